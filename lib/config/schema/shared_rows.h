// The parts of the table in schema.h that have sources of their own, and rows that several sections have: a
// rate, a breaker, a number of workers. `access` is a generic lambda from a Scope, const or not, to the
// struct. Private to this folder. Pure.
#pragma once

#include <string>
#include <tuple>

#include "config/property.h"

namespace laneway::config {

/// rate, retry, ledger, dead_letter, breaker: schema_failure.cpp.
Rows failure_rows();
/// route, pools: schema_pools.cpp.
Rows rows_of_pools();

/// From a Scope to a field of the struct to which `access` leads.
template <class Access, class Struct, class Field>
auto field_of(Access access, Field Struct::*field) {
  return [=](auto& scope) -> auto& { return access(scope).*field; };
}

template <class Access>
Rows rate_rows(const std::string& section, const std::string& whose, Access access) {
  return {
      {section + ".records", in_flight, count(0, 1'000'000'000), field_of(access, &Rate::records),
       "Maximum number of records per second that start in " + whose + ". 0 means no limit."},
      {section + ".bytes", in_flight, size(0, 1ULL << 40), field_of(access, &Rate::bytes),
       "Maximum size per second of the keys and values of the records that start in " + whose +
           ". 0B means no limit."},
      {section + ".burst", in_flight, duration(milliseconds(1), std::chrono::hours(1)),
       field_of(access, &Rate::burst),
       "Size of a burst after an idle time: as many records start at once as the rate allows in this time."},
  };
}

template <class Access>
Rows breaker_rows(const std::string& section, Access access) {
  return {
      {section + ".failures", in_flight, count(0, 1'000'000), field_of(access, &Breaker::failures),
       "Minimum number of different records that must fail in a row before the breaker opens. The breaker "
       "also opens when half of the records in `breaker.window` have failed. 0 disables the breaker, and "
       "every failure counts against its record."},
      {section + ".window", in_flight, duration(seconds(1), std::chrono::hours(1)),
       field_of(access, &Breaker::window),
       "The time over which the calls of different records are compared."},
      {section + ".probe", in_flight, duration(milliseconds(1), std::chrono::hours(1)),
       field_of(access, &Breaker::probe),
       "How long an open breaker waits before a record probes the downstream."},
      {section + ".slow", in_flight, duration(Duration::zero(), std::chrono::hours(1)),
       field_of(access, &Breaker::slow),
       "A call that takes longer than this time counts as a failure of the downstream. 0s disables this."},
  };
}

inline constexpr std::uint32_t most_workers = 4096;

std::optional<BadValue> read_workers(std::tuple<std::uint32_t&, AdaptiveLimit&> workers, const Node& node);
std::string print_workers(std::tuple<const std::uint32_t&, const AdaptiveLimit&> workers);

/// A number, or a range with the algorithm that chooses in it.
template <class Number, class Adaptive>
Property workers_row(std::string name, Number number, Adaptive adaptive, std::string description) {
  auto form =
      structured("a whole number from 1 to 4096, or { min, max, algorithm }", read_workers, print_workers);
  form.most = most_workers;
  return restarting({std::move(name), in_flight, form, both(number, adaptive), std::move(description)},
                    "the limit that follows the downstream is created at the start",
                    [adaptive](const ConstScope& scope) { return adaptive(scope).algorithm; });
}

}  // namespace laneway::config
