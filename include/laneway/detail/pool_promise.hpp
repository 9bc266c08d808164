// A job of laneway::WorkerPool whose result goes to a future. Part of the installed headers because it is a
// template; programs use <laneway/pool.hpp>.
#pragma once

#include <laneway/detail/pool_slot.hpp>

#include <exception>
#include <functional>
#include <future>
#include <utility>

namespace laneway::detail {

/// Runs the job; its result or its exception goes to the promise.
template <class Job, class Value>
void fulfil(std::promise<Value>& promise, Job& job, [[maybe_unused]] std::stop_token stop) {
  const auto run = [&]() -> decltype(auto) {
    if constexpr (TakesStopToken<Job>)
      return job(std::move(stop));
    else
      return job();
  };
  try {
    if constexpr (std::is_void_v<Value>) {
      run();
      promise.set_value();
    } else {
      promise.set_value(run());
    }
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
}

/// What a Promised is made of: both are moved only when a slot is reserved for it.
template <class Value, class From>
struct Promise {
  std::promise<Value>& promise;
  From from;  ///< a reference
};

template <class Job, class Value>
class Promised {
 public:
  template <class From>
  explicit Promised(Promise<Value, From>&& of) noexcept(std::is_nothrow_constructible_v<Job, From>)
      : job_(static_cast<From>(of.from)), promise_(std::move(of.promise)) {}

  void operator()(std::stop_token stop) { fulfil(promise_, job_, std::move(stop)); }

 private:
  Job job_;
  std::promise<Value> promise_;
};

/// What a Continued is made of; likewise.
template <class Value, class From, class FromThen>
struct Continuation {
  std::promise<Value>& promise;
  From from;      ///< a reference
  FromThen then;  ///< a reference
};

/// A job whose future, once ready, goes to a function, which is called exactly once: after the job, or when
/// the job is destroyed without having run.
template <class Job, class Value, class Then>
class Continued {
 public:
  template <class From, class FromThen>
  explicit Continued(Continuation<Value, From, FromThen>&& of) noexcept(
      std::is_nothrow_constructible_v<Job, From>&& std::is_nothrow_constructible_v<Then, FromThen>)
      : job_(static_cast<From>(of.from)),
        then_(static_cast<FromThen>(of.then)),
        promise_(std::move(of.promise)) {}
  Continued(Continued&& other) noexcept(
      std::is_nothrow_move_constructible_v<Job>&& std::is_nothrow_move_constructible_v<Then>)
      : job_(std::move(other.job_)),
        then_(std::move(other.then_)),
        promise_(std::move(other.promise_)),
        called_(std::exchange(other.called_, true)) {}
  Continued& operator=(Continued&&) = delete;
  ~Continued() {
    if (called_) return;
    try {
      auto future = promise_.get_future();
      promise_ = std::promise<Value>();  // the future has the error broken_promise
      std::invoke(then_, std::move(future));
    } catch (...) {  // no worker runs this job, so nobody can report the exception
    }
  }

  /// An exception of the function is one of the job.
  void operator()(std::stop_token stop) {
    fulfil(promise_, job_, std::move(stop));
    called_ = true;
    std::invoke(then_, promise_.get_future());
  }

 private:
  Job job_;
  Then then_;
  std::promise<Value> promise_;
  bool called_ = false;
};

}  // namespace laneway::detail
