// What a job with options has in addition to its slot.
#pragma once

#include <cstdint>
#include <string>

namespace laneway::detail {

/// What only a job with JobOptions has.
struct JobDetails {
  std::string name;
  std::int64_t timeout = 0;   ///< ns; 0: the pool's
  std::int64_t begin_by = 0;  ///< ns of SteadyClock; 0: none
};

}  // namespace laneway::detail
