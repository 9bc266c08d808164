// A dead-letter topic for the lane's tests.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "handler/handler.h"
#include "lane/support.h"

namespace laneway::lane {

/// Stands for the dead-letter topic: remembers its records, and answers as the test decides.
class DeadLetterTopic final : public handler::RecordHandler {
 public:
  std::string name() const override { return "dead letters"; }
  void fail(int times) { failures_ = times; }
  std::vector<std::pair<std::int64_t, handler::FailureHistory>> letters() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return letters_;
  }
  /// The attempt numbers of the records that it was given.
  std::vector<std::uint32_t> attempts() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return attempts_;
  }
  Offsets offsets() const {
    Offsets all;
    for (const auto& [offset, history] : letters()) all.push_back(offset);
    return all;
  }

 private:
  handler::Outcome handle_record(const handler::Attempt& attempt) override EXCLUDES(mutex_) {
    if (failures_ > 0) {
      --failures_;
      return handler::Outcome::unavailable("no broker");
    }
    MutexLock lock(mutex_);
    letters_.emplace_back(attempt.record.offset(), *attempt.failures);
    attempts_.push_back(attempt.number);
    return handler::Outcome::done();
  }

  mutable Mutex mutex_;
  std::vector<std::uint32_t> attempts_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::int64_t, handler::FailureHistory>> letters_ GUARDED_BY(mutex_);
  std::atomic<int> failures_{0};
};

/// A lane that gives up records after three attempts, and its dead-letter topic.
struct FailingLane : TestLane {
  FailingLane() {
    context.forward = &topic;
    context.retry.attempts = 3;
    stage().settings.queue = 64;
  }
  ~FailingLane() {
    handler.open();
    lane.reset();
  }
  std::uint64_t dead_letters(delivery::DeadLetterReason why) const {
    return lane->stats().dead_letters[static_cast<std::size_t>(why)].get();
  }

  DeadLetterTopic topic;
};

}  // namespace laneway::lane
