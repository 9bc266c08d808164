// What group.protocol: consumer (KIP-848) makes different for a member: there the brokers distribute the
// partitions and find the topics of a pattern. Pure, any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Whether the brokers distribute the partitions, and not the members among themselves.
bool brokers_distribute(const ClientSettings& settings);
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
