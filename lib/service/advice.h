// What to change, from how the lanes were used: the advice of /status and of `laneway status`.
//
// More workers are right only where all of them are busy and the lag does not fall, and something else is not
// the limit: the processors, the connections, the order, the memory, a downstream that is out. So each lane
// is looked at for what limits it, and each limit gives one line. A backlog that is gone within the hour is
// no reason to change anything. Workers are to be busy 70 % of the time, as in `laneway plan`.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "service/usage.h"

namespace laneway::service {

struct AdviceSettings {
  config::Lanes lanes;
  std::uint64_t connections = 0;      ///< that all lanes share; 0: there is no such limit
  bool keeps_pace = false;            ///< the downstream has asked for fewer calls
  double cores = 1;                   ///< that the process may use
  Duration least_span = seconds(60);  ///< a lane that was seen for less is not judged
};

/// One line each, the most important first; nothing before `least_span` has been seen.
std::vector<std::string> advise(const Usage& usage, const AdviceSettings& settings);

}  // namespace laneway::service
