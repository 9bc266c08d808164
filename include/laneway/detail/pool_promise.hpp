// A job of laneway::WorkerPool whose result goes to a future. Part of the installed headers because it is a
// template; programs use <laneway/pool.hpp>.
#pragma once

#include <laneway/detail/pool_slot.hpp>

#include <exception>
#include <future>

namespace laneway::detail {

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

  void operator()(std::stop_token stop) {
    try {
      if constexpr (std::is_void_v<Value>) {
        run(std::move(stop));
        promise_.set_value();
      } else {
        promise_.set_value(run(std::move(stop)));
      }
    } catch (...) {
      promise_.set_exception(std::current_exception());
    }
  }

 private:
  decltype(auto) run([[maybe_unused]] std::stop_token stop) {
    if constexpr (TakesStopToken<Job>)
      return job_(std::move(stop));
    else
      return job_();
  }

  Job job_;
  std::promise<Value> promise_;
};

}  // namespace laneway::detail
