// How the protocols of groups differ for a member. Under the eager ones all partitions are given back at each
// rebalance, under the cooperative ones only those that move. Under group.protocol: consumer (KIP-848), which
// is cooperative, the brokers distribute the partitions and find the topics of a pattern.
//
// When a member may be joining is in join_watch.h, and which releases of the client can do what in
// client_support.h. Pure, any thread.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Whether the brokers distribute the partitions, and not the members among themselves.
bool brokers_distribute(const ClientSettings& settings);
/// Whether partitions are given back one by one, by what rd_kafka_rebalance_protocol() says; null: no
/// protocol has been agreed on.
bool is_cooperative(const char* rebalance_protocol);
/// Whether a broker with these settings has group.protocol: consumer, and has it switched on.
bool offers_consumer_protocol(const std::map<std::string, std::string>& broker_settings);
/// Brokers match the whole name of a topic, the client searches in it; this finds for brokers what `pattern`
/// finds for the client.
std::string whole_name_pattern(const std::string& pattern);
/// Whether a commit was refused because the group has moved on since the member's last heartbeat: with the
/// next one the client knows the new epoch, and the same commit is taken.
bool outdated_epoch(int code);
/// Whether another member has the group.instance.id.
bool instance_held(int code);
/// A fatal error of a member as ours: what happened, and what to do where that is known.
Error membership_error(int code, const std::string& words);

}  // namespace laneway::kafka
