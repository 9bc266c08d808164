// What a running service has done at one moment, and in the time between two moments, for lane_bench.
//
// A run in which nothing more is done for a minute has failed: std::runtime_error. Blocking: wait_for() and
// first_done(), until then. Threads: one.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/time.h"
#include "service/service.h"

namespace bench {

using Json = nlohmann::ordered_json;

/// How long nothing may happen before a run has failed.
constexpr laneway::Duration patience = laneway::seconds(60);
constexpr laneway::Duration look_interval = laneway::milliseconds(5);

/// What is counted: the records done, or the attempts that a named pool has ended.
struct Counted {
  std::int32_t except = -1;  ///< without those of this partition
  std::string pool{};        ///< of this pool, if not empty
};

/// Of all samples, or of those with this pool.
double sum_of(const laneway::service::Service& service, const std::string& family,
              const std::string& pool = {});

/// Time, processor time and what is done.
struct Moment {
  Moment(const laneway::service::Service& service, const Counted& counted);
  std::uint64_t done;
  laneway::TimePoint at;
  double cpu;
};

/// Looks until `reached(moment)`.
template <class Reached>
Moment wait_for(const laneway::service::Service& service, const Counted& counted, Reached reached) {
  Moment last(service, counted);
  auto progress = last.at;
  while (!reached(last)) {
    std::this_thread::sleep_for(look_interval);
    const Moment now(service, counted);
    if (now.done != last.done) progress = now.at;
    if (now.at > progress + patience)
      throw std::runtime_error("no progress after " + std::to_string(now.done) + " records");
    last = now;
  }
  return last;
}

Moment first_done(const laneway::service::Service& service, const Counted& counted = {});

/// The rate, the processor time of a record, and the memory.
Json between(const Moment& begin, const Moment& end);

}  // namespace bench
