// Whether the user may join a group, before a member tries. Private to this folder.
//
// Threads: as the handle. Blocks up to `timeout`, and returns soon after `given_up` says so.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace laneway::kafka {

/// Unavailable where the coordinator says that the user may not describe the group or not read it. A client
/// before 2.3.0 hears only of the first. No answer within `timeout`, and one without the user's rights, is
/// no refusal.
Status may_join(rd_kafka_t* handle, const std::string& group, Duration timeout,
                const std::function<bool()>& given_up);

}  // namespace laneway::kafka
