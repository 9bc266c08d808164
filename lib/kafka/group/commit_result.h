// Reads the answer to a commit. Private to this folder. Pure.
#pragma once

#include <librdkafka/rdkafka.h>

#include "kafka/group/consumer.h"

namespace laneway::kafka {

/// `event`: an RD_KAFKA_EVENT_OFFSET_COMMIT. `joining`: the member has joined its group, and the partitions
/// are being distributed.
CommitResult read_commit_result(rd_kafka_event_t& event, bool joining);

}  // namespace laneway::kafka
