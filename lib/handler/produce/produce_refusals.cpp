#include "handler/produce/produce_refusals.h"

namespace laneway::handler {
namespace {

constexpr std::size_t most_suspects = 100000;
constexpr std::size_t most_refusals = 10000;

}  // namespace

std::optional<std::string> ProduceRefusals::refusal(const kafka::TopicPartition& partition,
                                                    std::int64_t offset, std::uint32_t attempt) {
  if (refusals_.empty()) return {};
  const auto found = refusals_.find({partition, offset});
  if (found == refusals_.end()) return {};
  auto& refusal = found->second;
  if (refusal.told_in == 0) refusal.told_in = attempt;
  if (attempt <= refusal.told_in) return refusal.why;
  refusals_.erase(found);
  return {};
}

bool ProduceRefusals::may_send(const kafka::TopicPartition& partition, std::int64_t offset) const {
  return !alone_ && (on_their_way_ == 0 || !is_suspect(partition, offset));
}

void ProduceRefusals::sent(const kafka::TopicPartition& partition, std::int64_t offset) {
  ++on_their_way_;
  alone_ = is_suspect(partition, offset);
}

bool ProduceRefusals::delivered(const kafka::TopicPartition& partition, std::int64_t offset,
                                const kafka::Delivery& delivery) {
  using Ended = kafka::DeliveryStatus;
  --on_their_way_;
  alone_ = false;
  const bool refused = is_refusal(delivery);
  if (!suspects_.empty() && (refused || delivery.status == Ended::acknowledged))
    suspects_.erase({partition, offset});
  if (delivery.status == Ended::batch_refused) {
    if (suspects_.size() >= most_suspects) suspects_.clear();
    return suspects_.insert({partition, offset}).second;
  }
  if (!refused || !transactional_) return false;
  if (refusals_.size() >= most_refusals) refusals_.clear();
  return refusals_.insert_or_assign({partition, offset}, Refusal{delivery.error}).second;
}

}  // namespace laneway::handler
