#include "handler/forward/retry_record.h"

#include "handler/forward/header_lists.h"

namespace laneway::handler {
namespace {

std::optional<delivery::RetryOrigin> origin_in(const delivery::Headers& headers,
                                               const delivery::RetryStep& step,
                                               const delivery::RetrySteps& steps) {
  auto origin = delivery::read_retry_origin(headers);
  if (!origin) return {};
  const auto* of_origin = steps.find(origin->topic);
  if (of_origin == nullptr || of_origin->source != step.source) return {};
  return origin;
}

}  // namespace

delivery::RetryOrigin retry_origin(const Attempt& attempt) {
  auto origin = described<delivery::RetryOrigin>(attempt);
  origin.reason = attempt.failures->reason;
  if (attempt.failures->route == Route::parked) {
    origin.step = attempt.failures->retry_step->topic;
    origin.waiting_since = attempt.failures->waiting_since_ms;
  }
  return origin;
}

void restore_origin(Item& item, const delivery::RetryStep& step, const delivery::RetrySteps& steps) {
  item.failures = std::make_unique<FailureHistory>();
  item.failures->retry_step = &step;
  item.failures->retry_offset = item.record.offset();
  const auto origin = origin_in(headers_of(item.record), step, steps);
  auto data = item.record.release_copy();
  std::erase_if(data.headers, [](const auto& header) { return delivery::describes_retry(header.first); });
  if (origin) {
    data.topic = origin->topic;
    data.partition = origin->partition;
    data.offset = origin->offset;
    data.timestamp = origin->timestamp;
    data.timestamp_type = static_cast<kafka::TimestampType>(origin->timestamp_type);
    item.failures->attempts_before = item.failures->last_attempt = origin->attempts;
    item.attempt = origin->attempts + 1;
    item.suspect = origin->attempts > 0;
    if (origin->waiting_since >= 0) {
      item.failures->waiting_since_ms = std::clamp<std::int64_t>(origin->waiting_since, 1, wall_clock_ms());
      const auto* parked_at = steps.find(origin->step);
      if (parked_at != nullptr && parked_at->source == step.source) item.failures->retry_step = parked_at;
    }
    item.failures->first_ms = std::max<std::int64_t>(origin->first_failure, 0);
  }
  item.record = kafka::Record(data);
}

}  // namespace laneway::handler
