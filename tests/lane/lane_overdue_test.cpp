// One record hangs in a claim of several: the others do not wait for it.
#include <set>

#include "catch.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr std::int64_t records = 14;
constexpr std::int64_t hanging = 5;

/// A worker gets all waiting records. One hangs until the gate is opened; the others take no time.
class OneHangs final : public handler::RecordHandler {
 public:
  std::string name() const override { return "one hangs"; }
  bool fills_tasks() const override { return true; }
  Duration timeout() const override { return std::chrono::hours(1); }

  void open() { open_ = true; }
  Offsets started() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return started_;
  }
  std::atomic<bool> hangs{false};
  Outcome at_last;  ///< the answer to the record that hangs

 private:
  Outcome handle_record(const handler::Attempt& attempt) override EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      started_.push_back(attempt.record.offset());
    }
    if (attempt.record.offset() != hanging || open_) return {};
    hangs = true;
    const auto given_up = Deadline::in(2 * patience);
    while (!open_ && !given_up.passed()) std::this_thread::sleep_for(milliseconds(1));
    return at_last;
  }

  std::atomic<bool> open_{false};
  mutable Mutex mutex_;
  Offsets started_ GUARDED_BY(mutex_);
};

struct OneHangsTest : TestLane {
  explicit OneHangsTest(config::Order order = config::Order::none) {
    stage().handler = &one_hangs;
    stage().settings.workers = 2;
    context.lanes.order = order;
    for (std::int64_t offset = 0; offset < records; ++offset) partition.add(offset, "key");
    if (order != config::Order::none) no_breaker.note_service_time(microseconds(1));
  }
  ~OneHangsTest() {
    one_hangs.open();
    lane.reset();  // before its handler
  }
  /// The claim has lasted for longer than it may.
  void until_overdue() {
    REQUIRE(until([&] { return one_hangs.hangs.load(); }));
    pass_since_now(seconds(1));
  }
  bool until_finished(const std::set<std::int64_t>& offsets) {
    return until([&] {
      const auto candidate = lane->commit_candidate();
      if (!candidate || candidate->offset != hanging) return false;
      const auto map = StoredCommit::read(*candidate).map;
      return std::all_of(offsets.begin(), offsets.end(), [&](auto o) { return map.contains(o); });
    });
  }

  OneHangs one_hangs;
};

const std::set<std::int64_t> behind{6, 7, 8, 9, 10, 11, 12, 13};

}  // namespace

TEST_CASE("if one record of a claim hangs, the others finish, and only that record is named and abandoned") {
  const CapturedLog log;
  OneHangsTest test;
  test.begin();
  test.until_overdue();
  CHECK(test.until_finished(behind));
  CHECK(TestLane::sorted(test.one_hangs.started()) == offsets(0, records));  // each once
  const auto oldest = test.lane->detail(test.now).oldest;
  REQUIRE(oldest);
  CHECK(oldest->offset == hanging);
  CHECK(oldest->phase == OldestRecord::Phase::running);
  CHECK(test.lane->pool().snapshot().in_flight == 1);
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.lane->cancel();
  test.pass(seconds(1));
  CHECK_FALSE(test.lane->drained());
  CHECK(test.lane->revoke(test.now) == 1);
  CHECK(log.lines({"msg=abandoned"}) == 1);
  CHECK(log.lines({"msg=abandoned", "offset=5"}) == 1);
}

TEST_CASE("a record that hung counts when it ends, with any answer") {
  const bool fails = GENERATE(false, true);
  OneHangsTest test;
  if (fails) test.one_hangs.at_last = Outcome::retry("slow");
  test.begin();
  test.until_overdue();
  CHECK(test.until_finished(behind));
  test.one_hangs.open();
  CHECK(test.in_time([&] { return test.commit_offset() == records; }));
  CHECK(test.one_hangs.started().size() == records + (fails ? 1 : 0));
  CHECK(test.lane->take_completed() == records);
  CHECK(test.lane->stats().outcomes[0].get() == records);
  CHECK(test.lane->pool().snapshot().in_flight == 0);
}

TEST_CASE("in order, records before one that hangs count, and records behind it wait") {
  OneHangsTest test(config::Order::partition);
  test.begin();
  test.until_overdue();
  CHECK(test.until_finished({}));
  CHECK(test.one_hangs.started() == offsets(0, hanging + 1));
  CHECK(test.lane->pool().snapshot().in_flight == 1);
  test.one_hangs.open();
  CHECK(test.until([&] { return test.commit_offset() == records; }));
  CHECK(test.one_hangs.started() == offsets(0, records));
}

TEST_CASE("a drain that begins nothing more counts the finished records of a hanging claim") {
  const CapturedLog log;
  OneHangsTest test;
  test.context.lanes.drain_queued = config::DrainQueued::give_back;
  test.begin();
  REQUIRE(test.until([&] { return test.one_hangs.hangs.load(); }));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  test.pass_since_now(milliseconds(1));
  CHECK(test.commit_offset() == hanging);
  CHECK(test.one_hangs.started() == offsets(0, hanging + 1));
  test.lane->cancel();
  CHECK(test.lane->revoke(test.now) == 1);
  CHECK(log.lines({"msg=abandoned", "offset=5"}) == 1);
}

namespace {

/// Some records take longer than a claim may last.
class SomeAreSlow final : public handler::RecordHandler {
 public:
  std::string name() const override { return "some are slow"; }
  bool fills_tasks() const override { return true; }
  std::atomic<std::int64_t> begun{0};

 private:
  Outcome handle_record(const handler::Attempt& attempt) override {
    ++begun;
    if (attempt.record.offset() % 40 == 7) std::this_thread::sleep_for(milliseconds(25));
    return {};
  }
};

}  // namespace

TEST_CASE("records that are taken out of claims at any moment run once, and all finish") {
  constexpr std::int64_t many = 800;
  for (const auto order : {config::Order::none, config::Order::key, config::Order::partition}) {
    SomeAreSlow slow;
    TestLane test;
    test.stage().handler = &slow;
    test.context.lanes.order = order;
    test.stage().settings.queue = 256;
    for (std::int64_t offset = 0; offset < many; ++offset)
      test.partition.add(offset, std::to_string(offset % 3));
    test.begin();
    CHECK(test.until([&] {
      test.tick_now();
      return test.commit_offset() == many;
    }));
    CHECK(slow.begun == many);
    CHECK(test.lane->take_completed() == many);
    // The last claim ends a moment after its records.
    CHECK(test.until([&] { return test.lane->pool().drained(); }));
    test.lane.reset();  // before its handler
  }
}
