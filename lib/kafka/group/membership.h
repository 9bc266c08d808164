// What the brokers answer about a member of a group: whether they offer its protocol (config/client/
// group_protocol.h), at which epoch they have admitted it, and why they refuse it. Pure, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "config/client/group_protocol.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Whether a broker with these settings supports the protocol, by which the brokers distribute the
/// partitions, and has enabled it.
bool offers(const config::GroupProtocol& protocol, const std::map<std::string, std::string>& broker_settings);
/// The epoch at which the brokers have admitted a member (its group_member()); 0 before that.
std::int32_t epoch_of(const rd_kafka_consumer_group_metadata_s* member);
/// Whether another member has the same group.instance.id.
bool instance_held(int code);
/// Converts a fatal error of a member to ours: what happened, and what to do if that is known.
Error membership_error(const config::GroupProtocol& protocol, int code, const std::string& words);

}  // namespace laneway::kafka
