#include "kafka/produce/delivery_error.h"

#include <string_view>

namespace laneway::kafka {
namespace {

/// RD_KAFKA_RESP_ERR__INVALID_DIFFERENT_RECORD, which the library has since 2.4.0.
constexpr auto another_is_invalid = static_cast<rd_kafka_resp_err_t>(-138);

/// The status of a record that was the only one in its batch.
DeliveryStatus status_of(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return DeliveryStatus::too_large;
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
      return DeliveryStatus::invalid;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return DeliveryStatus::unknown_topic;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      return DeliveryStatus::denied;
    default:
      return DeliveryStatus::unreachable;
  }
}

/// What to do about the error; nullptr if the library's text is sufficient.
const char* remedy(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "the user needs Write on the topic";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "the user needs IdempotentWrite on the cluster";
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      return "check sasl.mechanism, sasl.username and sasl.password";
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
      return "the topic is compacted and the record has no key, or the record's timestamp is outside the "
             "topic's limits; see cleanup.policy and message.timestamp.before.max.ms of the topic";
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
      return "the record's timestamp is outside the topic's limits; see message.timestamp.before.max.ms and "
             "message.timestamp.after.max.ms of the topic";
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return "the topic does not exist, or the user may not describe it";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "see the topic's max.message.bytes and the client's message.max.bytes";
    default:
      return nullptr;
  }
}

/// Removes the prefix that says only which side found the error: errors are counted by their first words, and
/// the prefix would come first.
std::string_view plain(std::string_view words) {
  for (const std::string_view origin : {"Failed to enqueue message: ", "Local: ", "Broker: "})
    if (words.starts_with(origin)) words.remove_prefix(origin.size());
  return words;
}

}  // namespace

Delivery failed_delivery(rd_kafka_resp_err_t code, const char* words, bool alone, std::int32_t partition) {
  auto status = status_of(code);
  if (code == another_is_invalid) status = DeliveryStatus::batch_refused;
  if (!alone && (status == DeliveryStatus::too_large || status == DeliveryStatus::invalid))
    status = DeliveryStatus::batch_refused;
  std::string error(plain(words));
  if (const char* what = remedy(code)) error += std::string(" (") + what + ")";
  return {status, std::move(error), partition, no_offset};
}

}  // namespace laneway::kafka
