// The load of running services, measured by two readings of the /status of each service.
//
// The rate of arriving records is the rate of finished records plus the growth of the lag. The service time
// is the time that the workers spent, with all attempts, divided by the number of finished records. Several
// services are the instances of one group. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/plan/sizing.h"
#include "base/result.h"

namespace laneway::plan {

/// One service at a moment.
struct Reading {
  struct Lane {
    std::uint64_t finished = 0;  ///< records, since the assignment
    std::uint64_t bytes = 0;     ///< of the records finished, keys and values
    Duration work{};             ///< that the workers spent, since the assignment
    std::int64_t lag = 0;        ///< 0 also if unknown
    std::uint64_t taken = 0;     ///< of the lag, queued or running
    bool all_busy = false;       ///< all its workers run records
    std::string held;            ///< why it takes no more records; empty if it does
  };
  std::map<std::string, Lane> lanes;
  std::uint64_t workers = 0;
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  Duration drain{};
  std::uint64_t cores = 1;
  Duration processor{};  ///< time used since the process began
};

/// The error for an answer that is not the status of a laneway service; one sentence without the address.
Error not_laneway();

/// `status`: the JSON of /status. Error: not_laneway().
Result<Reading> read_status(const std::string& status);

struct Measured {
  Load load;
  std::uint64_t lag = 0;
  double finished = 0;  ///< records a second
  double growth = 0;    ///< of the lag, records a second
};

/// `before` and `after` have the same services in the same order, `window` apart. Error: unavailable, if
/// lanes were assigned or revoked, or no record was finished between them.
Result<Measured> measure(const std::vector<Reading>& before, const std::vector<Reading>& after,
                         Duration window);
std::string print(const Measured& measured, Duration window);

}  // namespace laneway::plan
