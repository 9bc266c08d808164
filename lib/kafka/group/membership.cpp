#include "kafka/group/membership.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

namespace laneway::kafka {
namespace {

// Error codes of the protocol; librdkafka 2.0.2 has no names for them.
constexpr int unreleased_instance_id = 111;
constexpr int unsupported_assignor = 112;

Error cannot_join(const std::string& what, const std::string& hint) {
  return {ErrorKind::configuration, "the brokers refuse group.protocol: consumer: " + what, hint};
}

}  // namespace

bool offers_consumer_protocol(const std::map<std::string, std::string>& broker_settings) {
  const auto protocols = broker_settings.find("group.coordinator.rebalance.protocols");
  if (protocols != broker_settings.end()) return protocols->second.find("consumer") != std::string::npos;
  return broker_settings.count("group.consumer.session.timeout.ms") > 0;
}

std::int32_t epoch_of(const rd_kafka_consumer_group_metadata_s* member) {
#if RD_KAFKA_VERSION >= 0x020c00ff  // the first release that can take part in these groups
  return member == nullptr ? 0 : std::max(0, rd_kafka_consumer_group_metadata_generation_id(member));
#else
  (void)member;
  return 0;
#endif
}

bool instance_held(int code) { return code == unreleased_instance_id; }

Error membership_error(int code, const std::string& words) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return cannot_join(
          "they do not have this protocol, or have disabled it",
          "use Kafka 4.0 or newer with the feature group.version at 1 (kafka-features.sh describe), or set "
          "kafka.group.protocol: classic");
    case unsupported_assignor:
      return cannot_join("they do not have the assignor that kafka.group.remote.assignor names",
                         "name one of the brokers' group.consumer.assignors, such as uniform or range");
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
      return cannot_join(
          "the group has members with group.protocol: classic, and cannot change its protocol while these "
          "members run",
          "set group.consumer.migration.policy: bidirectional on the brokers, or stop these members");
    case unreleased_instance_id:
      return {ErrorKind::unavailable, "another member still has this group.instance.id",
              "the id becomes free when that member leaves or its session ends; two processes need two ids"};
    default:
      return {ErrorKind::fatal, "the Kafka client cannot continue: " + words, ""};
  }
}

}  // namespace laneway::kafka
