// A record's path through retry topics: source → <source>-retry-5s → <source>-retry-1m → … → dead letter.
// Meant for long delays: the record's own partition goes on meanwhile.
//
// The step of a record depends only on the topic that the record is read from, and not on its headers, so no
// header can make a record circulate forever: each topic leads to a later one.
//
// The service passes in the names; lanes see a step. Pure; constant once built, then any thread.
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

/// The place of a consumed topic on the path.
struct RetryStep {
  std::string source;  ///< The topic of the service where the records began; for a source, the source itself.
  /// Where a record goes when its attempts here are used up; empty: the dead-letter topic.
  std::string next;
  Duration delay{};  ///< How long a record waits before its attempt here; zero: this is a source.

  bool delayed() const { return delay > Duration::zero(); }
  /// How long a record that was written at `timestamp` still waits; both are ms since 1970. Never more than
  /// the delay: clocks differ, and a timestamp may be missing (negative), in the future, or set by someone
  /// else.
  Duration wait(std::int64_t timestamp, std::int64_t now) const;
};

class RetrySteps {
 public:
  /// Adds a source with its retry topics in their order, each with its delay. No name may be used twice.
  void add(const std::string& source, const std::vector<std::pair<std::string, Duration>>& retry_topics);
  /// nullptr for a topic that is not on any path; otherwise valid as long as this lives.
  const RetryStep* find(std::string_view topic) const;
  /// By topic.
  const std::map<std::string, RetryStep, std::less<>>& all() const { return steps_; }

 private:
  std::map<std::string, RetryStep, std::less<>> steps_;
};

}  // namespace laneway::delivery
