// A record that was read from a retry topic becomes what it was at its origin: topic, partition, offset,
// timestamp and headers, so that handlers, dead letters and the next retry topic see one record and not its
// copies. Pure.
#pragma once

#include "delivery/retry/retry_stages.h"
#include "handler/record_batch.h"

namespace laneway::handler {

/// `item`'s record was read from a topic of this stage, which is one of `stages`. When its headers do not say
/// an origin on the same way (somebody else wrote it), it keeps its own place and begins with attempt 1.
void restore_origin(Item& item, const delivery::RetryStage& stage, const delivery::RetryStages& stages);

}  // namespace laneway::handler
