// A bounded pool of worker threads, without Kafka: find_package(laneway COMPONENTS pool), laneway::pool.
//
//   laneway::WorkerPool pool({.name = "resize", .workers = 4, .queue = 200});
//   if (auto answer = pool.try_submit([image] { resize(image); }); !answer)
//     reply(429, answer.text());        // job queue full (200/200)
//   auto report = pool.stop(25s);       // drains; then requests the stop of what is left
//
// A job is any callable without arguments, or one that takes a std::stop_token; what it returns is dropped,
// except by async() and submit_and_wait(). A small callable (32 bytes that move without throwing) is kept in
// the queue itself: submitting it allocates nothing.
//
// Threads: any thread may call everything, also from a job, except stop(), wait_idle() and submit_and_wait(),
// which a job of this pool must not call: they throw std::logic_error. What blocks: submit, submit_until,
// submit_for and submit_batch while the queue is full, async likewise, wait_idle, submit_and_wait, stop, and
// the destructor. A job that submits to its own pool uses try_submit or submit_for: jobs that all wait for
// room, which only they can make, wait forever. Nothing is dropped silently: a submission is accepted, or its
// answer says why not.
//
// Ownership: the pool owns its threads and the accepted jobs. The destructor stops the pool with
// PoolOptions::drain and ::cancel, and then waits for jobs that still run, however long: a thread cannot be
// ended from outside, so a job must return when its stop is requested. When the destructor begins, no other
// thread may be in a call; end such calls with close() or stop() before. A job must not destroy its own pool.
//
// Stop callbacks (std::stop_callback) of jobs run on the pool's own thread for timeouts, or on the thread
// that calls stop(): they must be short, because other timeouts and the end of stop() wait for them. One that
// calls stop() gets std::logic_error if stop() runs it.
//
// Errors: the constructor throws std::invalid_argument for options that cannot be, and std::system_error if
// min_workers threads cannot be started. An exception of a job is counted and given to on_error.
#pragma once

#include <laneway/detail/pool_promise.hpp>
#include <laneway/detail/pool_slot.hpp>
#include <laneway/pool_types.hpp>

#include <concepts>
#include <future>
#include <iterator>
#include <ranges>
#include <span>

namespace laneway {

class WorkerPool {
  template <class Job>
  using Result =
      typename std::conditional_t<detail::TakesStopToken<Job>, std::invoke_result<Job&, std::stop_token>,
                                  std::invoke_result<Job&>>::type;

 public:
  using Clock = std::chrono::steady_clock;

  explicit WorkerPool(PoolOptions options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Never blocks.
  template <class Job>
  Submission try_submit(Job&& job) {
    return offer(std::forward<Job>(job), nullptr, Wait::never());
  }
  template <class Job>
  Submission try_submit(const JobOptions& options, Job&& job) {
    return offer(std::forward<Job>(job), &options, Wait::never());
  }

  /// Blocks while the queue is full.
  template <class Job>
  Submission submit(Job&& job) {
    return offer(std::forward<Job>(job), nullptr, Wait::always());
  }
  template <class Job>
  Submission submit(const JobOptions& options, Job&& job) {
    return offer(std::forward<Job>(job), &options, Wait::always());
  }

  /// Blocks while the queue is full, until `deadline`; then the answer is full.
  template <class Job>
  Submission submit_until(Clock::time_point deadline, Job&& job) {
    return offer(std::forward<Job>(job), nullptr, Wait{deadline});
  }
  template <class Job>
  Submission submit_until(Clock::time_point deadline, const JobOptions& options, Job&& job) {
    return offer(std::forward<Job>(job), &options, Wait{deadline});
  }
  template <class Job>
  Submission submit_for(std::chrono::nanoseconds time, Job&& job) {
    const auto now = Clock::now();
    const bool ends = time < Clock::time_point::max() - now;
    return submit_until(ends ? now + time : Clock::time_point::max(), std::forward<Job>(job));
  }

  /// Moves jobs into the queue, from the front, as many as there is room for; the others stay in `jobs`. With
  /// by_key and round_robin it ends when the queue whose turn it is is full.
  template <detail::Runnable Job>
  Submission try_submit_batch(std::span<Job> jobs) {
    return offer_all(jobs, Wait::never());
  }
  /// Moves all jobs into the queue; blocks while it is full.
  template <detail::Runnable Job>
  Submission submit_batch(std::span<Job> jobs) {
    return offer_all(jobs, Wait::always());
  }

  /// The result of the job, or its exception, as a future. Blocks while the queue is full; throws Rejected if
  /// the pool is closed. The future of a job that is abandoned or has expired has the error broken_promise.
  /// It is ready when the job has returned: the job is destroyed, and its place is free, a moment later. Use
  /// wait_idle() where that matters.
  template <class Job>
  auto async(Job&& job) -> std::future<Result<std::decay_t<Job>>> {
    return promise(std::forward<Job>(job), nullptr, Wait::always());
  }
  template <class Job>
  auto async(const JobOptions& options, Job&& job) -> std::future<Result<std::decay_t<Job>>> {
    return promise(std::forward<Job>(job), &options, Wait::always());
  }
  /// As async, but throws Rejected if the queue is full.
  template <class Job>
  auto try_async(Job&& job) -> std::future<Result<std::decay_t<Job>>> {
    return promise(std::forward<Job>(job), nullptr, Wait::never());
  }

  /// Runs the job and then `then(future)`, on the same worker; no thread waits for the result, and the call
  /// never blocks. `then` is called exactly once if the job is accepted, and never if it is refused: job and
  /// `then` are the caller's in that case. The future is ready: get() returns the result of the job, or
  /// throws its exception; if the job was abandoned or has expired, it throws the error broken_promise, and
  /// `then` runs on the thread that drops the job. `then` counts as a part of the job: it must be short, and
  /// an exception of it is given to on_error. For a coroutine, `then` resumes it.
  template <class Job, class Then>
  Submission try_async(Job&& job, Then&& then) {
    return continued(std::forward<Job>(job), std::forward<Then>(then), nullptr);
  }
  template <class Job, class Then>
  Submission try_async(const JobOptions& options, Job&& job, Then&& then) {
    return continued(std::forward<Job>(job), std::forward<Then>(then), &options);
  }

  /// Waits until the job has run; returns its result or throws its exception. The job is ended as with
  /// async().
  template <class Job>
  Result<std::decay_t<Job>> submit_and_wait(Job&& job) {
    refuse_own_worker("submit_and_wait");
    return async(std::forward<Job>(job)).get();
  }

  /// No job begins, except those that a worker is taking at this moment; running jobs go on. Submissions are
  /// accepted up to the bound. Without effect after stop() was called.
  void pause();
  void resume();

  /// Refuses new jobs; accepted jobs still run.
  void close();
  /// Closes, resumes if paused, and waits up to `drain` for the accepted jobs. Then requests the stop of the
  /// running jobs, waits up to `cancel` for them, and gives up the jobs that have not begun; the report names
  /// both. A second call, also at the same time, returns the report of the first. With a `drain` of zero a
  /// job that has just returned may count as not drained.
  StopReport stop(std::chrono::nanoseconds drain, std::chrono::nanoseconds cancel);
  StopReport stop(std::chrono::nanoseconds drain);

  /// Waits until no job is unfinished. Returns false if `time` passed before.
  void wait_idle();
  bool wait_idle_for(std::chrono::nanoseconds time);

  PoolState state() const;
  /// For a readiness probe. Unhealthy: closed; every worker runs a job past its timeout; no thread could be
  /// started (with by_key and round_robin: of one of the queues). Tries again to start a thread that the
  /// system refused.
  PoolHealth health() const;
  PoolMetrics metrics() const;

 private:
  struct Implementation;
  /// A time on Clock: never and always are its ends.
  struct Wait {
    Clock::time_point until;
    static Wait never() { return {Clock::time_point::min()}; }
    static Wait always() { return {Clock::time_point::max()}; }
  };
  /// Slots that are to be filled and then published.
  struct Reserved {
    detail::Slot* slots;
    std::uint64_t mask;
    std::uint64_t position;
    void* queue;
    Submission answer;
    detail::Slot& slot(std::uint64_t i) const { return slots[(position + i) & mask]; }
  };

  static Submission no_job() { return {.verdict = Verdict::no_job}; }
  Reserved reserve(std::uint32_t wanted, const JobOptions* options, Wait wait);
  void publish(const Reserved& reserved);
  void refuse_own_worker(const char* function) const;

  template <class From>
  Submission offer(From&& from, const JobOptions* options, Wait wait) {
    using Job = std::decay_t<From>;
    static_assert(detail::Runnable<Job>, "a job takes no argument, or a std::stop_token");
    if (detail::is_empty(from)) return no_job();
    if constexpr (copies_first<Job, From>)
      return place<Job>(Job(from), options, wait);
    else
      return place<Job>(std::forward<From>(from), options, wait);
  }
  /// A copy that fails leaves no trace if it is made before a slot is reserved. A job that is moved must not
  /// be touched before: it may be refused.
  template <class Job, class From>
  static constexpr bool copies_first =
      std::is_lvalue_reference_v<From> && !std::is_nothrow_constructible_v<Job, From&&>;

  template <class Job, class From>
  Submission place(From&& from, const JobOptions* options, Wait wait) {
    detail::Filler<Job> filler;
    const Reserved reserved = reserve(1, options, wait);
    if (!reserved.answer) return reserved.answer;
    if constexpr (std::is_nothrow_constructible_v<Job, From&&>) {
      filler.fill(reserved.slot(0), std::forward<From>(from));
    } else {
      try {
        filler.fill(reserved.slot(0), std::forward<From>(from));
      } catch (...) {  // the slot cannot be given back
        detail::Filler<detail::NoJob>().fill(reserved.slot(0), detail::NoJob());
        publish(reserved);
        throw;
      }
    }
    publish(reserved);
    return reserved.answer;
  }

  template <class Job>
  Submission offer_all(std::span<Job> jobs, Wait wait) {
    Submission all;
    for (std::size_t done = 0; done < jobs.size();) {
      if constexpr (!detail::fits<Job>) {
        const auto one = offer(std::move(jobs[done]), nullptr, wait);
        if (!join(all, one)) return all;
        ++done;
      } else {
        std::size_t end = done;
        while (end < jobs.size() && end - done < 1024 && !detail::is_empty(jobs[end])) ++end;
        if (end == done) return all.verdict = Verdict::no_job, all;
        const Reserved reserved = reserve(static_cast<std::uint32_t>(end - done), nullptr, wait);
        if (!reserved.answer) return join(all, reserved.answer), all;
        detail::Filler<Job> filler;
        for (std::uint32_t i = 0; i < reserved.answer.accepted; ++i)
          filler.fill(reserved.slot(i), std::move(jobs[done + i]));
        publish(reserved);
        join(all, reserved.answer);
        done += reserved.answer.accepted;
      }
    }
    return all;
  }
  /// Adds the answer to a part of a batch. Returns whether the part was accepted.
  static bool join(Submission& all, const Submission& part) {
    if (all.accepted == 0) all.id = part.id;
    all.accepted += part.accepted;
    all.verdict = part.verdict;
    all.length = part.length;
    all.capacity = part.capacity;
    return static_cast<bool>(part);
  }

  template <class From>
  auto promise(From&& from, const JobOptions* options, Wait wait) {
    using Job = std::decay_t<From>;
    using Value = Result<Job>;
    if constexpr (copies_first<Job, From>) {
      return promise(Job(from), options, wait);
    } else {
      if (detail::is_empty(from)) throw Rejected(no_job());
      std::promise<Value> promise;
      auto future = promise.get_future();
      const auto answer = place<detail::Promised<Job, Value>>(
          detail::Promise<Value, From&&>{promise, std::forward<From>(from)}, options, wait);
      if (!answer) throw Rejected(answer);
      return future;
    }
  }

  template <class From, class FromThen>
  Submission continued(From&& from, FromThen&& then, const JobOptions* options) {
    using Job = std::decay_t<From>;
    using Then = std::decay_t<FromThen>;
    using Value = Result<Job>;
    static_assert(std::invocable<Then&, std::future<Value>>, "`then` takes the future of the job");
    if constexpr (copies_first<Job, From>) {
      return continued(Job(from), std::forward<FromThen>(then), options);
    } else if constexpr (copies_first<Then, FromThen>) {
      return continued(std::forward<From>(from), Then(then), options);
    } else {
      if (detail::is_empty(from) || detail::is_empty(then)) return no_job();
      std::promise<Value> promise;
      return place<detail::Continued<Job, Value, Then>>(
          detail::Continuation<Value, From&&, FromThen&&>{promise, std::forward<From>(from),
                                                          std::forward<FromThen>(then)},
          options, Wait::never());
    }
  }

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway
