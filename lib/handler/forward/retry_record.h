// Restores a record that was read from a retry topic to its origin: topic, partition, offset, timestamp and
// headers. Handlers, dead letters and the next retry topic then see one record, and not its copies. Pure.
#pragma once

#include "delivery/retry/retry_steps.h"
#include "handler/record_batch.h"

namespace laneway::handler {

/// `item`'s record was read from a topic of `step`, which is one of `steps`. If its headers do not name an
/// origin on the same chain of retry topics (because another program wrote the record), the record keeps its
/// own place and begins with attempt 1. A record whose attempts have counted is a suspect.
void restore_origin(Item& item, const delivery::RetryStep& step, const delivery::RetrySteps& steps);

}  // namespace laneway::handler
