// The protocols by which a consumer group distributes its partitions: one row for each, with what they differ
// in. Other code asks the row, and compares no settings. Pure.
#pragma once

#include <optional>
#include <span>

#include "config/client/client_keys.h"

namespace laneway::config {

/// What differs between protocols by which the brokers distribute the partitions. The brokers' own settings
/// of a protocol begin with group.<value>, and those of its groups with <value>.
struct ByBrokers {
  const char* needs;         ///< the brokers that have the protocol
  const char* assignor_key;  ///< of the client: has an effect on members of this protocol only
  const char* assignors;     ///< the words for that key that brokers know by default
  /// Releases of librdkafka, as rd_kafka_version() returns them: the first that has the protocol, and the
  /// first whose members join again after max.poll.interval.ms was exceeded.
  int client_since;
  int client_rejoins_since;
};

struct GroupProtocol {
  const char* key;  ///< of the client, which asks for the protocol by `value`
  const char* value;
  /// A rebalance gives or takes single partitions. Otherwise a member gives back all its partitions first.
  bool incremental = false;
  /// The brokers distribute the partitions, decide about sessions, and admit members by epochs. Otherwise the
  /// members join by JoinGroup, leave by LeaveGroup, and one of them distributes the partitions.
  std::optional<ByBrokers> by_brokers{};

  /// "group.protocol: consumer"
  std::string setting() const { return std::string(key) + ": " + value; }
};

std::span<const GroupProtocol> group_protocols();

/// The protocol that these settings ask for.
const GroupProtocol& group_protocol(const ClientSettings& client);
/// The protocol of a member that wants all partitions or none: another member takes all of them back.
const GroupProtocol& whole_assignment();
/// Whether a member that stops leaves its group by a LeaveGroup request. A static member keeps its place.
bool leaves_by_request(const ClientSettings& client);
/// The settings without the keys of a member, for a client that is a member of another group in its own way.
ClientSettings without_membership(ClientSettings client);

}  // namespace laneway::config
