// The ways of a record through retry topics, where it waits while its own partition goes on. There are two:
//
//   failed  source → <source>-retry-5s → <source>-retry-1m → … → dead letter: each topic leads to a later one
//   parked  the same topics, but the last one leads to itself: a record whose downstream is out, or cannot
//           keep up, comes back again and again until it runs, or until it is too old
//
// Where a record goes depends on the topic that the record is read from. Its headers say only at which step
// a parked record was, so that its attempts go on to count there.
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
  /// Where a record goes that is parked here; empty: no record is parked.
  std::string parks_in{};
  std::string topic{};

  bool delayed() const { return delay > Duration::zero(); }
  /// How long a record that was written at `timestamp` still waits; both are ms since 1970. Never more than
  /// the delay: clocks differ, and a timestamp may be missing (negative), in the future, or set by someone
  /// else.
  Duration wait(std::int64_t timestamp, std::int64_t now) const;
};

/// The records that use the retry topics of a source.
struct RetryUses {
  bool failed = true;
  bool parked = false;
};

class RetrySteps {
 public:
  /// Adds a source with its retry topics in their order, each with its delay. No name may be used twice.
  void add(const std::string& source, const std::vector<std::pair<std::string, Duration>>& retry_topics,
           RetryUses uses = {});
  /// nullptr for a topic that is not on any path; otherwise valid as long as this lives.
  const RetryStep* find(std::string_view topic) const;
  /// By topic.
  const std::map<std::string, RetryStep, std::less<>>& all() const { return steps_; }

 private:
  std::map<std::string, RetryStep, std::less<>> steps_;
};

}  // namespace laneway::delivery
