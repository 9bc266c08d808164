// What a record takes with it to a retry topic, and how it is restored to its origin when it is read there:
// topic, partition, offset, timestamp and headers. Handlers, dead letters and the next retry topic then see
// one record, and not its copies. Pure.
#pragma once

#include "delivery/dead_letter/retry_headers.h"
#include "delivery/retry/retry_steps.h"
#include "handler/handler.h"

namespace laneway::handler {

/// What the headers of a retry and of a dead letter have in common.
template <class Description>
Description described(const Attempt& attempt) {
  const auto& record = attempt.record.unread();
  Description description;
  description.topic = record.topic();
  description.partition = record.partition();
  description.offset = record.offset();
  description.timestamp = record.timestamp();
  description.timestamp_type = static_cast<delivery::TimestampType>(record.timestamp_type());
  description.attempts = attempt.number;
  description.first_failure = attempt.failures->first_ms;
  return description;
}
/// The record is on its way to a retry topic.
delivery::RetryOrigin retry_origin(const Attempt& attempt);

/// `item`'s record was read from a topic of `step`, which is one of `steps`. If its headers do not name an
/// origin on the same chain of retry topics (because another program wrote the record), the record keeps its
/// own place and begins with attempt 1. A record whose attempts have counted is a suspect. The attempts at a
/// record that was parked go on to count at the step where it was.
void restore_origin(Item& item, const delivery::RetryStep& step, const delivery::RetrySteps& steps);

}  // namespace laneway::handler
