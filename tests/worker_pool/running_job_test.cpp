// The job that a worker runs, as the timekeeper sees it.
#include "worker_pool/running_job.h"

#include "worker_pool/support.h"

namespace laneway::worker_pool {
namespace {

TEST_CASE("the timeout of a job does not stop the job after it") {
  RunningJob job;
  const std::stop_source common(std::nostopstate);
  std::atomic<bool> ended = false;
  std::thread timekeeper([&] {
    for (std::int64_t next = 0; !ended;) static_cast<void>(job.check(100, next));
  });
  std::thread probe([&] {
    while (!ended) static_cast<void>(job.past_timeout());
  });
  int stopped = 0;
  for (int i = 0; i < 10'000; ++i) {
    job.begin({}, 1);  // past its timeout at once
    while (!job.past_timeout()) std::this_thread::yield();
    job.begin({}, 1'000);
    const auto token = job.token(common);
    job.end();
    stopped += token.stop_requested() ? 1 : 0;
  }
  ended = true;
  timekeeper.join();
  probe.join();
  REQUIRE(stopped == 0);
}

}  // namespace
}  // namespace laneway::worker_pool
