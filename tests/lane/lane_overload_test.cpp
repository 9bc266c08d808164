// An hour of overload in virtual time: 20,000 records/s arrive, 8,000/s are done. One lane is simulated, a
// sixteenth of both; the lane, its pool and its ledger are the real ones, and only the partition, the work
// and the clock are simulated. Memory stays flat, the rejections show the overload, and nothing is lost.
#include <malloc.h>

#include <deque>
#include <utility>

#include "base/mutex.h"
#include "support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr std::int64_t arrivals_per_second = 20'000 / 16;
constexpr std::uint32_t workers = 4;
constexpr std::uint32_t queue = 64;              // 16 lanes: a thousand records
constexpr Duration work_time = milliseconds(8);  // 500/s with four workers; 16 lanes: 8,000/s
constexpr std::size_t record_bytes = 4096;

/// A log that grows with the clock and is read once; nothing is stored.
class GrowingLog final : public PartitionSource {
 public:
  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override {
    if (paused || next >= end) return kafka::Pop::empty;
    offset = next++;
    kafka::RecordData data;
    data.topic = "notifications";
    data.offset = offset;
    data.value = std::string(record_bytes, 'x');
    record = kafka::Record(data);
    return kafka::Pop::record;
  }
  std::string last_error() const override { return "simulated"; }
  std::size_t fetched() const override { return 0; }
  void pause() override { paused = true; }
  void resume(std::int64_t next_offset) override {
    paused = false;
    next = next_offset;
  }
  void seek(std::int64_t next_offset) override { next = next_offset; }
  void wake() override {}
  kafka::LogBounds log_bounds() const override { return {0, end}; }
  void ask_log(bool) override {}
  kafka::LogAnswer log_answer() const override { return {}; }

  std::int64_t next = 0;
  std::int64_t end = 0;
  bool paused = false;
};

/// Each record takes `work_time` of the virtual clock.
class TimedHandler final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    running_.emplace_back(now_ + work_time, std::move(task));
  }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  std::string name() const override { return "timed"; }
  /// The pool notes the real time at which a claim begins, so the virtual clock must never pass a deadline.
  Duration timeout() const override { return std::chrono::hours(24); }

  /// Ends the records whose time has come. An offset that was done before is counted as repeated.
  void pass(TimePoint now) EXCLUDES(mutex_) {
    for (;;) {
      std::deque<handler::Task> due;
      {
        MutexLock lock(mutex_);
        now_ = now;
        if (running_.empty() || running_.front().first > now) return;
        due.push_back(std::move(running_.front().second));
        running_.pop_front();
      }
      const auto offset = due.front().attempt(0).record.offset();
      if (offset == done) ++done;  // one at a time, and all take equally long: they end in order
      ++answers;
      due.front().answer(0, handler::Outcome::done());
    }
  }

  std::int64_t done = 0;     ///< every offset below was done
  std::int64_t answers = 0;  ///< equal to `done` if none was repeated, and none left out

 private:
  Mutex mutex_;
  TimePoint now_ GUARDED_BY(mutex_);
  std::deque<std::pair<TimePoint, handler::Task>> running_ GUARDED_BY(mutex_);
};

/// Bytes that the program has allocated; 0 under sanitizers, which have an allocator of their own.
std::size_t allocated() { return mallinfo2().uordblks; }

/// The lane, its simulated surroundings, and the loop that drives them.
class Overload {
 public:
  Overload() {
    test_.stage().settings.workers = workers;
    test_.stage().settings.queue = queue;
    test_.stage().handler = &handler_;
    auto source = std::make_unique<GrowingLog>();
    log_ = source.get();
    lane_ = std::make_unique<Lane>(test_.context, StoredCommit{{"notifications", 3}, 0}, 7, [] {});
    lane_->start(std::move(source), now_);
  }
  ~Overload() { lane_.reset(); }
  Overload(const Overload&) = delete;

  /// `arrive`: whether records arrive meanwhile.
  void pass_second(bool arrive = true) {
    constexpr int steps = 250;  // of 4 ms
    const auto before = log_->end;
    for (int step = 1; step <= steps; ++step) {
      if (arrive) log_->end = before + arrivals_per_second * step / steps;
      now_ += milliseconds(1000 / steps);
      handler_.pass(now_);
      lane_->tick(now_);
      while (lane_->work(now_)) {
      }
      most_held_ = std::max(most_held_, log_->next - handler_.answers);
    }
    if (const auto candidate = lane_->commit_candidate()) {
      lane_->committed(*candidate);
      committed_ = candidate->offset;
    }
  }
  void leave_the_rest() { log_->end = log_->next; }

  std::int64_t arrived() const { return log_->end; }
  std::int64_t taken() const { return log_->next; }
  std::int64_t done() const { return handler_.done; }
  std::int64_t answers() const { return handler_.answers; }
  std::int64_t committed() const { return committed_; }
  std::int64_t most_held() const { return most_held_; }  ///< taken from the log and not done, at any time
  std::uint64_t rejections() const { return lane_->stats().submissions.rejections.get(); }

 private:
  TestLane test_;  // its context; it has no lane
  TimedHandler handler_;
  GrowingLog* log_ = nullptr;
  TimePoint now_ = SteadyClock::now();
  std::unique_ptr<Lane> lane_;
  std::int64_t committed_ = 0;
  std::int64_t most_held_ = 0;
};

}  // namespace

TEST_CASE("in an hour of overload, the memory stays flat, rejections show it, and no record is lost") {
  Overload overload;
  constexpr int minute = 60;
  for (int second = 0; second < minute; ++second) overload.pass_second();
  const auto held_at_first = overload.most_held();
  const auto allocated_at_first = allocated();
  const auto rejections_at_first = overload.rejections();
  const auto done_at_first = overload.done();
  for (int second = minute; second < 60 * minute; ++second) overload.pass_second();

  CHECK(overload.arrived() == 3600 * arrivals_per_second);
  CHECK(overload.done() > 3600 * 450);  // the workers were never without work
  CHECK(overload.most_held() == held_at_first);
  CHECK(overload.most_held() <= 2 * (workers + queue));
  if (allocated() > allocated_at_first) CHECK(allocated() - allocated_at_first < 256 * 1024);
  const auto rejections = static_cast<double>(overload.rejections() - rejections_at_first);
  CHECK(rejections / static_cast<double>(overload.done() - done_at_first) > 0.01);  // LanewayRejections

  overload.leave_the_rest();  // the backlog stays in the log
  for (int second = 0; second < 10; ++second) overload.pass_second(false);
  CHECK(overload.done() == overload.taken());
  CHECK(overload.answers() == overload.taken());
  CHECK(overload.committed() == overload.taken());
}
