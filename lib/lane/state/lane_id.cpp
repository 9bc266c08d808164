#include "lane/state/lane_id.h"

namespace laneway::lane {

void LaneId::log(const char* event, std::int64_t offset, const std::string& why,
                 telemetry::Level level) const {
  telemetry::log(level, event,
                 {{"topic", partition.topic},
                  {"partition", partition.partition},
                  {"epoch", epoch},
                  {"offset", offset},
                  {"why", why}});
}

}  // namespace laneway::lane
