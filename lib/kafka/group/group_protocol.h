// How the group protocols differ for a member. Under the eager protocols, a member gives back all its
// partitions at each rebalance; under the cooperative protocols, only the partitions that move. Under
// group.protocol: consumer (KIP-848), which is cooperative, the brokers distribute the partitions.
//
// join_watch.h has the times at which a member may be joining; client_support.h has what each release of the
// client can do. Pure, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Whether the brokers distribute the partitions; otherwise the members do.
bool brokers_distribute(const ClientSettings& settings);
/// Whether a member that stops leaves its group by a LeaveGroup request. A static member keeps its place.
bool leaves_by_request(const ClientSettings& settings);
/// Whether a member gives back only the partitions that move. `rebalance_protocol`: the result of
/// rd_kafka_rebalance_protocol(); null if no protocol has been agreed on.
bool is_cooperative(const char* rebalance_protocol);
/// Whether a broker with these settings supports group.protocol: consumer, and has enabled it.
bool offers_consumer_protocol(const std::map<std::string, std::string>& broker_settings);
/// Whether a commit was refused because the group has changed since the member's last heartbeat. With the
/// next heartbeat the client learns the new epoch, and the same commit is accepted.
bool outdated_epoch(int code);
/// The epoch at which the brokers have admitted a member (its group_member()); 0 before that.
std::int32_t epoch_of(const rd_kafka_consumer_group_metadata_s* member);
/// Whether another member has the same group.instance.id.
bool instance_held(int code);
/// Converts a fatal error of a member to ours: what happened, and what to do if that is known.
Error membership_error(int code, const std::string& words);

}  // namespace laneway::kafka
