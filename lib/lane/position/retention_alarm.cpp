#include "lane/position/retention_alarm.h"

#include "telemetry/log.h"

namespace laneway::lane {

void RetentionAlarm::observe(const kafka::LogBounds& log) {
  const bool was_near = watch_.in_danger();
  watch_.observe(log, ledger_.committable());
  const bool near = watch_.in_danger();
  stats_.expiry_near.set(near);
  if (near && !was_near)
    telemetry::warn("retention is about to delete records that are not processed",
                    {{"topic", id_.partition.topic},
                     {"partition", id_.partition.partition},
                     {"offset", ledger_.committable()},
                     {"log_start", log.start},
                     {"deleted_last", watch_.last_step()},
                     {"hint", "raise the topic's retention.ms or retention.bytes, or process faster"}});
}

}  // namespace laneway::lane
