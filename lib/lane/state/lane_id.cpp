#include "lane/state/lane_id.h"

#include "telemetry/log.h"

namespace laneway::lane {

void LaneId::log(const char* event, std::int64_t offset, const std::string& why) const {
  telemetry::info(event, {{"topic", partition.topic},
                          {"partition", partition.partition},
                          {"epoch", epoch},
                          {"offset", offset},
                          {"why", why}});
}

}  // namespace laneway::lane
