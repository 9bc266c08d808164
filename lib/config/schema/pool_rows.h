// The rows of pools in the table of schema.h, and those of them that the service has, too: the settings of
// the unnamed pool, and rates. Private to this folder. Pure.
#pragma once

#include <string>

#include "config/property.h"

namespace laneway::config {

/// route, pools.
Rows rows_of_pools();

/// A number, or a range with the algorithm that chooses in it. `name`: lanes.workers or pools.NAME.workers.
Property workers_row(std::string name, std::string description);
/// `section`: breaker or pools.NAME.breaker.
Rows breaker_rows(const std::string& section);

/// From a Scope to a field of the struct to which `access` leads, a generic lambda from a Scope, const or
/// not.
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

}  // namespace laneway::config
