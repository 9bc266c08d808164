#include "kafka/group/commit_result.h"

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

// The group has changed since the member's last heartbeat. With the next heartbeat the client learns the new
// epoch, and the same commit is accepted. librdkafka 2.0.2 has no name for the code.
constexpr int stale_member_epoch = 113;

bool asking_again_helps(rd_kafka_resp_err_t code, bool joining) {
  const bool distributes = joining && code == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
  return passes(code) || distributes || code == stale_member_epoch;
}

}  // namespace

bool perhaps_too_large(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN || code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
         code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
         code == RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE;
}

CommitResult read_commit_result(rd_kafka_event_t& event, bool joining) {
  CommitResult result;
  result.request = reinterpret_cast<std::uintptr_t>(rd_kafka_event_opaque(&event));
  const auto code = rd_kafka_event_error(&event);
  const auto* list = rd_kafka_event_topic_partition_list(&event);
  for (int i = 0; list != nullptr && i < list->cnt; ++i) {
    const auto& e = list->elems[i];
    const auto partition_code = code != RD_KAFKA_RESP_ERR_NO_ERROR ? code : e.err;
    const bool good = partition_code == RD_KAFKA_RESP_ERR_NO_ERROR;
    (good ? result.committed : result.failed).push_back({e.topic, e.partition});
    if (!good && result.error.empty()) result.error = error_text(partition_code);
    if (partition_code == RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE) result.metadata_too_long = true;
    if (perhaps_too_large(partition_code)) result.perhaps_too_large = true;
    if (asking_again_helps(partition_code, joining)) result.passing = true;
  }
  return result;
}

}  // namespace laneway::kafka
