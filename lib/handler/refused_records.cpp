#include "handler/refused_records.h"

namespace laneway::handler {
namespace {

constexpr std::size_t most_suspects = 100000;
constexpr std::size_t most_refusals = 10000;

}  // namespace

std::optional<std::string> RefusedRecords::take_refusal(const kafka::TopicPartition& partition,
                                                        std::int64_t offset) {
  if (refusals_.empty()) return {};
  const auto found = refusals_.extract({partition, offset});
  return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
}

bool RefusedRecords::may_send(const kafka::TopicPartition& partition, std::int64_t offset) const {
  return !alone_ && (on_their_way_ == 0 || !is_suspect(partition, offset));
}

void RefusedRecords::sent(const kafka::TopicPartition& partition, std::int64_t offset) {
  ++on_their_way_;
  alone_ = is_suspect(partition, offset);
}

void RefusedRecords::delivered(const kafka::TopicPartition& partition, std::int64_t offset,
                               const kafka::Delivery& delivery) {
  using Ended = kafka::DeliveryStatus;
  --on_their_way_;
  alone_ = false;
  const bool refused = is_refusal(delivery);
  if (!suspects_.empty() && (refused || delivery.status == Ended::acknowledged))
    suspects_.erase({partition, offset});
  if (delivery.status == Ended::batch_refused) {
    if (suspects_.size() >= most_suspects) suspects_.clear();
    suspects_.insert({partition, offset});
  } else if (refused && transactional_) {
    if (refusals_.size() >= most_refusals) refusals_.clear();
    refusals_[{partition, offset}] = delivery.error;
  }
}

}  // namespace laneway::handler
