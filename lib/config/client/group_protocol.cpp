#include "config/client/group_protocol.h"

#include <algorithm>
#include <iterator>

#include "config/text.h"

namespace laneway::config {
namespace {

constexpr GroupProtocol protocols[] = {
    {.key = "group.protocol",
     .value = "consumer",  // KIP-848
     .incremental = true,
     .by_brokers = ByBrokers{.needs = "Kafka 4.0 or newer with the feature group.version at 1",
                             .assignor_key = "group.remote.assignor",
                             .assignors = "uniform or range",
                             .client_since = 0x020c00ff,
                             .client_rejoins_since = 0x020f00ff}},  // issue 5541
    {.key = "partition.assignment.strategy", .value = "cooperative-sticky", .incremental = true},
    // With range, a member that is alone gets all partitions. Also without any setting, and with roundrobin.
    {.key = "partition.assignment.strategy", .value = "range"},
};

constexpr const char* keys_of_members[] = {
    "group.instance.id",  "group.protocol",        "group.remote.assignor", "partition.assignment.strategy",
    "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"};

}  // namespace

std::span<const GroupProtocol> group_protocols() { return protocols; }

const GroupProtocol& group_protocol(const ClientSettings& client) {
  const auto* asked = std::find_if(std::begin(protocols), std::end(protocols), [&](const auto& protocol) {
    const auto setting = client.find(protocol.key);
    return setting != client.end() && lower(setting->second.value) == protocol.value;
  });
  return asked == std::end(protocols) ? whole_assignment() : *asked;
}

const GroupProtocol& whole_assignment() { return *std::rbegin(protocols); }

bool leaves_by_request(const ClientSettings& client) {
  return !group_protocol(client).by_brokers && !client.contains("group.instance.id");
}

ClientSettings without_membership(ClientSettings client) {
  for (const char* key : keys_of_members) client.erase(key);
  return client;
}

}  // namespace laneway::config
