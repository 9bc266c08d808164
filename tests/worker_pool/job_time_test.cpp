#include "worker_pool/job_time.h"

#include "catch.h"

using namespace laneway;

namespace {

/// As the lane's pool has it.
struct JobTime : worker_pool::JobTime {
  JobTime() : worker_pool::JobTime(microseconds(10), false) {}
  explicit JobTime(Duration measured) : JobTime() { record(measured * 10, 10); }
  std::uint32_t claim_size() const { return jobs_in(microseconds(50), 256); }
};

}  // namespace

TEST_CASE("claims start with one job and follow the measured service time, up to 256 jobs") {
  CHECK(JobTime().claim_size() == 1);
  CHECK(JobTime(nanoseconds(1)).claim_size() == 256);
  CHECK(JobTime(microseconds(1)).claim_size() == 50);
  CHECK(JobTime(microseconds(10)).claim_size() == 5);
  CHECK(JobTime(microseconds(50)).claim_size() == 1);
  CHECK(JobTime(seconds(10)).claim_size() == 1);
}

TEST_CASE("a clock that stood still counts as a known service time") {
  JobTime time;
  time.record(Duration::zero(), 256);
  CHECK(time.known());
  CHECK(time.average() == nanoseconds(1));
  CHECK(time.claim_size() == 256);
}

TEST_CASE("one slow claim moves the average by an eighth, and a lasting change moves it fully") {
  JobTime time(microseconds(1));
  time.record(microseconds(9), 1);
  CHECK(time.average() == microseconds(2) + nanoseconds(1));
  for (int i = 0; i < 30; ++i) time.record(milliseconds(10), 1);
  CHECK(time.claim_size() == 1);
  CHECK(time.average() > milliseconds(9));
}

TEST_CASE("a worker is woken if no other is awake, the time is unknown, or the queue outlasts a wake-up") {
  CHECK(JobTime().worth_a_wake_up(1, 8));
  const JobTime time(microseconds(1));
  CHECK(time.worth_a_wake_up(1, 0));
  CHECK_FALSE(time.worth_a_wake_up(10, 1));
  CHECK(time.worth_a_wake_up(11, 1));
  CHECK_FALSE(time.worth_a_wake_up(20, 2));
  CHECK(time.worth_a_wake_up(21, 2));
}

TEST_CASE("a forgotten service time is unknown") {
  JobTime time(microseconds(1));
  time.forget();
  CHECK_FALSE(time.known());
  CHECK(time.average() == Duration::zero());
  CHECK(time.claim_size() == 1);
}

TEST_CASE("a steady average ignores small differences, and one claim doubles it at most") {
  worker_pool::JobTime time(microseconds(20), true);
  time.record(microseconds(8), 8);
  time.record(microseconds(11), 8);
  CHECK(time.average() == microseconds(1) + nanoseconds(1));
  time.record(milliseconds(10), 1);
  CHECK(time.average() == microseconds(2) + nanoseconds(1));
  CHECK(time.jobs_in(microseconds(16), 64) == 8);
}
