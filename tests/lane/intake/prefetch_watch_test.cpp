// When the fetching of the client is woken.
#include "lane/intake/prefetch_watch.h"

#include "catch.h"
#include "lane/simulated_partition.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// The client fetches until 100 records are fetched; the log ends at offset 50.
struct WatchedFetching {
  WatchedFetching() {
    limits.queued_min_messages = 100;
    partition.high_watermark = 50;
  }
  /// A run is taken while so many records are fetched. Returns how often the client has been woken.
  std::size_t run(std::size_t fetched) {
    watch.after_run(source, fetched);
    return partition.calls.size();
  }
  std::size_t tick_after(Duration time, std::int64_t next_offset = 10, bool may_take = true) {
    watch.tick(source, may_take, next_offset, now += time);
    return partition.calls.size();
  }
  void run_dry() {
    (void)run(100);
    watch.ran_dry(true, now);
  }

  TimePoint now{seconds(1000)};
  kafka::FetchLimits limits;
  Partition partition;
  SimulatedSource source{partition};
  PrefetchWatch watch{limits};
};

}  // namespace

TEST_CASE_METHOD(WatchedFetching,
                 "the client is woken once when a buffer that was full is less than half full") {
  CHECK(run(49) == 0);  // the buffer was never full
  CHECK(run(99) == 0);
  CHECK(run(10) == 0);
  CHECK(run(100) == 0);
  CHECK(run(50) == 0);
  CHECK(run(49) == 1);
  CHECK(partition.calls == std::vector<std::string>{"wake"});
  CHECK(run(20) == 1);
  CHECK(run(100) == 1);
  CHECK(run(0) == 2);
}

TEST_CASE_METHOD(WatchedFetching, "a client whose buffer was full is woken when nothing comes for 20 ms") {
  run_dry();
  CHECK(watch.is_dry());
  CHECK(watch.next_look(now) == now + milliseconds(20));
  CHECK(tick_after(milliseconds(19)) == 0);
  CHECK(tick_after(milliseconds(1)) == 1);
  CHECK(tick_after(seconds(1)) == 1);
  CHECK(watch.next_look(now) == TimePoint::max());
}

TEST_CASE_METHOD(WatchedFetching, "the 20 ms begin when the last record has come, and not with each look") {
  run_dry();
  now += milliseconds(10);
  watch.ran_dry(false, now);
  CHECK(tick_after(milliseconds(9)) == 0);
  watch.ran_dry(true, now);
  CHECK(tick_after(milliseconds(19)) == 0);
  CHECK(tick_after(milliseconds(1)) == 1);
}

TEST_CASE_METHOD(WatchedFetching, "a client whose buffer was never full is not woken") {
  watch.ran_dry(true, now);
  CHECK(watch.is_dry());
  CHECK(tick_after(seconds(1)) == 0);
  CHECK(watch.next_look(now) == TimePoint::max());
}

TEST_CASE_METHOD(WatchedFetching,
                 "the client is not woken at the end of the log, or while the end is not known") {
  const auto [log_end, next_offset] = GENERATE(table<std::int64_t, std::int64_t>(
      {{50, 50}, {50, 51}, {kafka::no_offset, 10}, {50, kafka::no_offset}}));
  partition.high_watermark = log_end;
  run_dry();
  CHECK(tick_after(seconds(1), next_offset) == 0);
  CHECK_FALSE(watch.is_dry());
}

TEST_CASE_METHOD(WatchedFetching,
                 "the client is not woken while the lane takes nothing, and at once when it does") {
  run_dry();
  CHECK(tick_after(seconds(1), 10, false) == 0);
  CHECK(watch.is_dry());
  CHECK(tick_after(seconds(0)) == 1);
}

TEST_CASE_METHOD(WatchedFetching, "records that come end the wait") {
  run_dry();
  watch.flows();
  CHECK_FALSE(watch.is_dry());
  CHECK(tick_after(seconds(1)) == 0);
}
