// The work of a story's records: the downstream that fails, hangs and is slow when the story says so, and the
// handlers that call it, as a blocking and as an asynchronous handler of a program. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "handler/handler.h"
#include "stories/tapped_client.h"

namespace laneway::stories {

/// What the downstream does at the moment. `work`: as usual.
enum class Mood : std::uint8_t { work, answers_503, answers_500, hangs, slow };

class Downstream {
 public:
  static constexpr Duration timeout = milliseconds(1500);  // of an attempt

  Downstream(const Story& story, Tap& tap) : story_(story), tap_(tap) {}

  static constexpr int all_keys = -1;
  /// `key`: for the records of this key only.
  void become(Mood mood, int key = all_keys) {
    key_ = key;
    mood_ = mood;
    if (mood != Mood::work) always_worked_ = false;
  }
  bool always_worked() const { return always_worked_; }
  /// Whether calls hang because all do at the moment.
  bool holds_calls() const { return held_calls_ > 0; }
  /// How many attempts at this member ended because their stop was requested.
  std::uint64_t stopped(const std::string& member) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return stopped_[member];
  }
  handler::Outcome call(const std::string& member, const handler::Attempt& attempt);

 private:
  handler::Outcome answer(const std::string& member, const handler::Attempt& attempt, Id id);
  handler::Outcome stop(const std::string& member) EXCLUDES(mutex_);
  /// Returns false if the stop of the attempt was requested meanwhile.
  bool hang(const handler::Attempt& attempt);
  bool first_call(Id id) EXCLUDES(mutex_);
  handler::Outcome planted(handler::Outcome outcome, Id id) const;
  static bool sleep(const handler::Attempt& attempt, Duration time) {
    return !attempt.stop.wait_until(SteadyClock::now() + time);
  }

  const Story& story_;
  Tap& tap_;
  std::atomic<Mood> mood_{Mood::work};
  std::atomic<int> key_{all_keys};
  std::atomic<bool> always_worked_{true};
  std::atomic<int> held_calls_{0};
  std::atomic<int> hanging_{0};  // records of their own
  Mutex mutex_;
  std::map<std::string, std::uint64_t> stopped_ GUARDED_BY(mutex_);
  std::set<Id> called_ GUARDED_BY(mutex_);  // those that hang once
};

/// A blocking handler of a member.
class BlockingHandler final : public handler::RecordHandler {
 public:
  BlockingHandler(Downstream& downstream, std::string member)
      : downstream_(downstream), member_(std::move(member)) {}
  std::string name() const override { return "story"; }
  Duration timeout() const override { return Downstream::timeout; }

 private:
  handler::Outcome handle_record(const handler::Attempt& attempt) override {
    return downstream_.call(member_, attempt);
  }
  Downstream& downstream_;
  const std::string member_;
};

/// One that keeps its tasks and answers later, from threads of its own.
class AsynchronousHandler final : public handler::Handler {
 public:
  AsynchronousHandler(Downstream& downstream, std::string member, std::uint32_t threads);
  ~AsynchronousHandler() override;
  void handle(handler::Task task) noexcept override;
  std::string name() const override { return "story"; }
  Duration timeout() const override { return Downstream::timeout; }
  std::uint32_t most_per_task() const override { return 1; }
  bool asynchronous() const override { return true; }

 private:
  void run();

  Downstream& downstream_;
  const std::string member_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<handler::Task>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace laneway::stories
