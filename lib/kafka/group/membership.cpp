#include "kafka/group/membership.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

namespace laneway::kafka {
namespace {

// Error codes of the protocol; librdkafka 2.0.2 has no names for them.
constexpr int unreleased_instance_id = 111;
constexpr int unsupported_assignor = 112;

}  // namespace

bool offers(const config::GroupProtocol& protocol,
            const std::map<std::string, std::string>& broker_settings) {
  const auto protocols = broker_settings.find("group.coordinator.rebalance.protocols");
  if (protocols != broker_settings.end()) return protocols->second.find(protocol.value) != std::string::npos;
  return broker_settings.count("group." + std::string(protocol.value) + ".session.timeout.ms") > 0;
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

Error membership_error(const config::GroupProtocol& protocol, int code, const std::string& words) {
  const Error unknown{ErrorKind::fatal, "the Kafka client cannot continue: " + words, ""};
  if (!protocol.by_brokers) return unknown;
  const auto cannot_join = [&](const std::string& what, const std::string& hint) {
    return Error{ErrorKind::configuration, "the brokers refuse " + protocol.setting() + ": " + what, hint};
  };
  const auto of_brokers = "group." + std::string(protocol.value);
  switch (code) {
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return cannot_join("they do not have this protocol, or have disabled it",
                         std::string("use ") + protocol.by_brokers->needs +
                             " (kafka-features.sh describe), or set kafka.group.protocol: classic");
    case unsupported_assignor:
      return cannot_join(
          std::string("they do not have the assignor that kafka.") + protocol.by_brokers->assignor_key +
              " names",
          "name one of the brokers' " + of_brokers + ".assignors, such as " + protocol.by_brokers->assignors);
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
      return cannot_join(
          "the group has members with group.protocol: classic, and cannot change its protocol while these "
          "members run",
          "set " + of_brokers + ".migration.policy: bidirectional on the brokers, or stop these members");
    case unreleased_instance_id:
      return {ErrorKind::unavailable, "another member still has this group.instance.id",
              "the id becomes free when that member leaves or its session ends; two processes need two ids"};
    default:
      return unknown;
  }
}

}  // namespace laneway::kafka
