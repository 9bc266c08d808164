#include "kafka/produce/delivery_error.h"

#include <string_view>

namespace laneway::kafka {
namespace {

constexpr const char* no_topic = "the topic does not exist, or the user may not describe it";
constexpr const char* no_login = "check sasl.mechanism, sasl.username and sasl.password";

/// What an error means for a record that was the only one in its batch.
struct Meaning {
  rd_kafka_resp_err_t code;
  DeliveryStatus status;
  const char* remedy = nullptr;  ///< what to do; nullptr if the library's text is sufficient
};
constexpr Meaning meanings[] = {
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, DeliveryStatus::too_large,
     "see the topic's max.message.bytes and the client's message.max.bytes"},
    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, DeliveryStatus::too_large},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD, DeliveryStatus::invalid,
     "the topic is compacted and the record has no key, or the record's timestamp is outside the topic's "
     "limits; see cleanup.policy and message.timestamp.before.max.ms of the topic"},
    {RD_KAFKA_RESP_ERR_INVALID_MSG, DeliveryStatus::invalid},
    {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, DeliveryStatus::invalid,
     "the record's timestamp is outside the topic's limits; see message.timestamp.before.max.ms and "
     "message.timestamp.after.max.ms of the topic"},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, DeliveryStatus::invalid},
    {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, DeliveryStatus::unknown_topic, no_topic},
    {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, DeliveryStatus::unknown_topic, no_topic},
    {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, DeliveryStatus::unknown_topic},
    {RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, DeliveryStatus::unknown_topic},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, DeliveryStatus::denied,
     "the user needs Write on the topic"},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, DeliveryStatus::denied,
     "the user needs IdempotentWrite on the cluster"},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, DeliveryStatus::denied, no_login},
    {RD_KAFKA_RESP_ERR__AUTHENTICATION, DeliveryStatus::denied, no_login},
    // RD_KAFKA_RESP_ERR__INVALID_DIFFERENT_RECORD, which the library has since 2.4.0
    {static_cast<rd_kafka_resp_err_t>(-138), DeliveryStatus::batch_refused},
};

Meaning meaning_of(rd_kafka_resp_err_t code) {
  for (const auto& meaning : meanings)
    if (meaning.code == code) return meaning;
  return {code, DeliveryStatus::unreachable};
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
  const auto meaning = meaning_of(code);
  auto status = meaning.status;
  if (!alone && (status == DeliveryStatus::too_large || status == DeliveryStatus::invalid))
    status = DeliveryStatus::batch_refused;
  std::string error(plain(words));
  if (meaning.remedy != nullptr) error += std::string(" (") + meaning.remedy + ")";
  return {status, std::move(error), partition, no_offset};
}

}  // namespace laneway::kafka
