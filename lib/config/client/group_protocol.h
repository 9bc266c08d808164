// The protocols by which a consumer group distributes its partitions: one row for each, with what they differ
// in. Other code asks the row, and compares no settings. Texts and releases of the client that one place
// needs stay in that place. Pure.
#pragma once

#include "config/client/client_keys.h"

namespace laneway::config {

struct GroupProtocol {
  const char* key;  ///< of the client, which asks for the protocol by `value`
  const char* value;
  /// A rebalance gives or takes single partitions. Otherwise a member gives back all its partitions first.
  bool incremental = false;
  /// The brokers distribute the partitions, decide about sessions, and admit members by epochs. Otherwise the
  /// members join by JoinGroup, leave by LeaveGroup, and one of them distributes the partitions.
  bool by_brokers = false;
};

/// The protocol that these settings ask for.
const GroupProtocol& group_protocol(const ClientSettings& client);
/// The protocol of a member that wants all partitions or none: another member takes all of them back.
const GroupProtocol& whole_assignment();
/// Whether a member that stops leaves its group by a LeaveGroup request. A static member keeps its place.
bool leaves_by_request(const ClientSettings& client);
/// The settings without the keys of a member, for a client that is a member of another group in its own way.
ClientSettings without_membership(ClientSettings client);

}  // namespace laneway::config
