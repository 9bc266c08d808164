// The settings and answers of laneway::WorkerPool (<laneway/pool.hpp>): plain values without behaviour.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace laneway {

/// Which worker runs a job.
enum class Distribution : std::uint8_t {
  shared,      ///< whichever is free: one queue for all workers
  by_key,      ///< the same one for all jobs of a key, which so run in the order of their submission
  round_robin  ///< each in turn
};

/// A job that threw an exception.
struct JobError {
  std::uint64_t id;
  std::string_view name;
  std::exception_ptr exception;
  std::string what;  ///< the text of the exception
};

struct PoolOptions {
  /// Stands in errors, in the answers of health(), and before the number in the names of the threads.
  std::string name = "pool";
  /// The most jobs that run at once. 0 is refused (std::invalid_argument).
  unsigned workers = 4;
  /// Threads that are started at once and kept. The others are started for a job that finds no idle thread.
  unsigned min_workers = 0;
  /// The most jobs that wait. A job is accepted while fewer than workers + queue jobs are unfinished. With
  /// by_key and round_robin each worker has an equal share of the queue. Each place costs 64 bytes, at once;
  /// the number of places, with some to spare, is rounded up to a power of two.
  std::size_t queue = 256;
  Distribution distribution = Distribution::shared;
  /// A thread beyond min_workers ends after this time without a job.
  std::chrono::nanoseconds idle = std::chrono::seconds(3);
  /// The running time after which the stop of a job is requested; zero: no limit. JobOptions::timeout goes
  /// before. A job with such a time fails with std::bad_alloc if there is no memory for its stop. If the
  /// system refuses the thread that looks at the time, jobs run without it until it can be started.
  std::chrono::nanoseconds job_timeout{0};
  /// What the destructor gives to stop().
  std::chrono::nanoseconds drain = std::chrono::seconds(20);
  std::chrono::nanoseconds cancel = std::chrono::seconds(2);
  /// Called by the worker for each job that threw, by several workers at once if several jobs threw. The
  /// worker goes on; exceptions of the function are dropped.
  std::function<void(const JobError&)> on_error = nullptr;
  /// Begin as after pause().
  bool paused = false;
};

/// Settings of one job. They cost an allocation; a job without them has none.
struct JobOptions {
  std::string name;                     ///< stands in JobError, in the report of stop(), and in health()
  std::string_view key;                 ///< with by_key; jobs without a key go to the workers in turn
  std::chrono::nanoseconds timeout{0};  ///< zero: PoolOptions::job_timeout; negative: no limit
  /// A job that has not begun by then is dropped and counted as expired.
  std::optional<std::chrono::steady_clock::time_point> begin_by;
};

enum class Verdict : std::uint8_t {
  accepted,
  full,      ///< workers + queue jobs are unfinished
  closed,    ///< close() or stop() was called
  no_job,    ///< the function was empty: a null pointer or an empty std::function
  no_thread  ///< the pool has no thread and the system refused to start one
};

/// The answer to a submission. A job that was not accepted is still the caller's, unmoved.
struct [[nodiscard]] Submission {
  std::uint64_t id = 0;  ///< of the job; of a batch: of its first job
  Verdict verdict = Verdict::accepted;
  std::uint32_t accepted = 0;  ///< of a batch: the number of accepted jobs, from the front
  std::uint32_t length = 0;    ///< of a full queue: the same as `capacity`, the most that may wait
  std::uint32_t capacity = 0;

  explicit operator bool() const { return verdict == Verdict::accepted; }
  /// "job queue full (200/200)", "pool closed; not accepting new jobs", …
  std::string text() const;
};

/// Thrown by async() and submit_and_wait(), which cannot return a Submission.
class Rejected : public std::runtime_error {
 public:
  explicit Rejected(const Submission& submission)
      : std::runtime_error(submission.text()), submission_(submission) {}
  const Submission& submission() const { return submission_; }

 private:
  Submission submission_;
};

enum class PoolState : std::uint8_t {
  initialized,  ///< no job was submitted yet
  running,
  paused,
  draining,  ///< closed; accepted jobs are being finished
  stopped
};

/// A job that stop() did not bring to its end.
struct UnfinishedJob {
  std::uint64_t id;
  std::string name;
};

struct StopReport {
  bool drained = false;                  ///< every accepted job ran to its end before the deadline
  std::vector<UnfinishedJob> abandoned;  ///< never began
  std::vector<UnfinishedJob> running;    ///< still run although their stop was requested
  /// "drained", or "pool orders: drain timed out; abandoned jobs: 2 (7 resize-7, 8 resize-8); still running:
  /// 1 (3)".
  std::string text;
};

struct PoolHealth {
  bool healthy = true;
  std::string reason;  ///< empty if healthy
};

/// Counts of durations. Bucket i counts values of at most bound(i) that exceed the bound before; the last
/// bucket has no bound.
struct DurationCounts {
  std::vector<std::uint64_t> counts;
  std::chrono::nanoseconds sum{0};

  static std::chrono::nanoseconds bound(std::size_t bucket) {
    return std::chrono::nanoseconds(std::int64_t{64} << bucket);
  }
  std::uint64_t count() const;
  /// The bound of the bucket in which the share `q` (0 … 1) of the values is reached; zero without values.
  std::chrono::nanoseconds quantile(double q) const;
};

/// The counts at one moment: each submitted job is queued, running, or in one of the counts of jobs that have
/// ended; one that is just ending may be counted as queued. The durations of short jobs are averages of up to
/// 64 jobs that one worker ran in a row; every 64th of their waiting times is measured and counted 64 times,
/// and ends when the worker took them.
struct PoolMetrics {
  std::uint64_t submitted = 0;  ///< accepted
  std::uint64_t completed = 0;  ///< returned
  std::uint64_t failed = 0;     ///< threw
  std::uint64_t expired = 0;    ///< dropped: JobOptions::begin_by had passed
  std::uint64_t abandoned = 0;  ///< dropped by stop(); its report may lack some if there was no memory
  std::uint64_t timed_out =
      0;  ///< whose stop was requested at their timeout; counted in completed or failed as well
  std::uint64_t rejected_full = 0;
  std::uint64_t rejected_closed = 0;
  std::uint64_t queued = 0;
  std::uint64_t queue_capacity = 0;
  std::uint32_t running = 0;  ///< workers that run a job
  std::uint32_t threads = 0;
  std::uint32_t idle = 0;
  std::uint64_t thread_start_failures = 0;  ///< the system refused a worker, or the thread for the timeouts
  DurationCounts wait;                      ///< from submission to start
  DurationCounts duration;                  ///< from start to end
};

}  // namespace laneway
