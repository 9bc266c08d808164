// The way of a record through retry topics: source → <source>-retry-5s → <source>-retry-1m → … → dead letter.
// For long delays: the record's own partition goes on meanwhile.
//
// The stage of a record follows from the topic that it is read from and from nothing in the record, so no
// header can send one round for ever: each topic leads to a later one only.
//
// Names are given in by the service; lanes see a stage. Pure; constant once built, then any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace laneway::delivery {

/// What a topic that is consumed is on that way.
struct RetryStage {
  std::string source;  ///< The topic of the service where its records began; of a source itself.
  std::string next;    ///< Where a record goes that has used up its attempts here; empty: the dead letter.
  Duration delay{};    ///< A record waits so long before its attempt here; zero: this is a source.

  bool delayed() const { return delay > Duration::zero(); }
  /// How long a record still waits that was written at `timestamp`; both are ms since 1970. Never more than
  /// the delay: clocks differ, and a timestamp may be missing (negative), in the future, or a stranger's.
  Duration wait(std::int64_t timestamp, std::int64_t now) const;
};

class RetryStages {
 public:
  /// A source with its retry topics in their order, each with its delay. No name may come twice.
  void add(const std::string& source, const std::vector<std::pair<std::string, Duration>>& retry_topics);
  /// nullptr for a topic that is no part of it; else valid as long as this lives.
  const RetryStage* find(std::string_view topic) const;
  /// By topic.
  const std::map<std::string, RetryStage, std::less<>>& all() const { return stages_; }

 private:
  std::map<std::string, RetryStage, std::less<>> stages_;
};

}  // namespace laneway::delivery
