// Rows that several sections of the schema have: a rate, a breaker, a number of workers. `access` is a
// generic lambda from a Config, const or not, to the struct. Private to this folder. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/property.h"

namespace laneway::config {

template <class Access>
void add_rate(std::vector<Property>& table, const std::string& section, const std::string& whose,
              Access access) {
  constexpr std::uint64_t most = 1'000'000'000;
  table.push_back(count(
      section + ".records", in_flight, 0, most,
      "Maximum number of records per second that start in " + whose + ". 0 means no limit.",
      [access](auto& config) -> auto& { return access(config).records; }));
  table.push_back(size(
      section + ".bytes", in_flight, 0, 1ULL << 40,
      "Maximum size per second of the keys and values of the records that start in " + whose +
          ". 0B means no limit.",
      [access](auto& config) -> auto& { return access(config).bytes; }));
  table.push_back(duration(
      section + ".burst", in_flight, milliseconds(1), std::chrono::hours(1),
      "Size of a burst after an idle time: as many records start at once as the rate allows in this time.",
      [access](auto& config) -> auto& { return access(config).burst; }));
}

template <class Access>
void add_breaker(std::vector<Property>& table, const std::string& section, Access access) {
  table.push_back(count(
      section + ".failures", in_flight, 0, 1'000'000,
      "Minimum number of different records that must fail in a row before the breaker opens. The breaker "
      "also opens when half of the records in `breaker.window` have failed. 0 disables the breaker, and "
      "every failure counts against its record.",
      [access](auto& config) -> auto& { return access(config).failures; }));
  table.push_back(duration(
      section + ".window", in_flight, seconds(1), std::chrono::hours(1),
      "The time over which the calls of different records are compared.", [access](auto& config) -> auto& {
        return access(config).window;
      }));
  table.push_back(duration(
      section + ".probe", in_flight, milliseconds(1), std::chrono::hours(1),
      "How long an open breaker waits before a record probes the downstream.",
      [access](auto& config) -> auto& { return access(config).probe; }));
  table.push_back(duration(
      section + ".slow", in_flight, Duration::zero(), std::chrono::hours(1),
      "A call that takes longer than this time counts as a failure of the downstream. 0s disables this.",
      [access](auto& config) -> auto& { return access(config).slow; }));
}

}  // namespace laneway::config
