// Reads the answer to a commit. Private to lib/kafka. Pure.
#pragma once

#include <librdkafka/rdkafka.h>

#include "kafka/group/consumer.h"

namespace laneway::kafka {

/// `event`: an RD_KAFKA_EVENT_OFFSET_COMMIT. `joining`: the member has joined its group, and the partitions
/// are being distributed.
CommitResult read_commit_result(rd_kafka_event_t& event, bool joining);

/// Whether offsets may be refused with this code because their request is too large. Brokers before Kafka 4
/// answer INVALID_COMMIT_OFFSET_SIZE, later ones UNKNOWN.
bool perhaps_too_large(rd_kafka_resp_err_t code);

}  // namespace laneway::kafka
