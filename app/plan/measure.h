// What running services do, from two readings of each one's /status.
//
// Records come as fast as they are finished and the lag grows; a record takes what the workers spent, all its
// attempts together, divided by how many were finished. Several services are the instances of one group.
// Pure.
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
    Duration work{};             ///< that workers spent, since the assignment
    std::int64_t lag = 0;        ///< 0 also where it is not known
    std::uint64_t taken = 0;     ///< of the lag, queued or at work
  };
  std::map<std::string, Lane> lanes;
  std::uint64_t workers = 0;
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  Duration drain{};
  std::uint64_t cores = 1;
  Duration processor{};  ///< time used since the process began
};

/// `status`: the JSON of /status. Error: unavailable, where it is none.
Result<Reading> read_status(const std::string& status);

struct Measured {
  Load load;
  std::uint64_t lag = 0;
  double finished = 0;  ///< records a second
  double growth = 0;    ///< of the lag, records a second
};

/// `before` and `after` have the same services in the same order, `window` apart. Error: unavailable, where
/// lanes moved or nothing was finished meanwhile.
Result<Measured> measure(const std::vector<Reading>& before, const std::vector<Reading>& after,
                         Duration window);

}  // namespace laneway::plan
