#include "lane/member/topic_watch.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration soon = seconds(1);
constexpr Duration after_silence = seconds(5);

}  // namespace

void TopicWatch::on_topics(const kafka::TopicsFound& found, TimePoint now) {
  asked_ = false;
  const bool failed = !found.error.empty();
  next_look_ = next_interval(now);
  if (failed) next_look_ = std::min(next_look_, now + after_silence);
  if (failed)
    telemetry::log_repeating(telemetry::Level::warn, "topics not found",
                             "the brokers gave no list of topics, so new topics of the pattern are not found",
                             {{"error", found.error}});
  if (failed) return;
  found_.clear();
  for (const auto& topic : found.topics)
    if (subscription_.pattern->contains(topic)) found_.push_back(topic);
  std::sort(found_.begin(), found_.end());
  if (found_ == subscription_.names) found_.clear();
}

void TopicWatch::look_soon(TimePoint now) { next_look_ = std::min(next_look_, now + soon); }

void TopicWatch::on_rebalance(TimePoint now) {
  if (now >= follows_from_) look_soon(now);
}

TimePoint TopicWatch::next_interval(TimePoint now) const {
  return subscription_.interval == Duration::max() ? TimePoint::max() : now + subscription_.interval;
}

void TopicWatch::advance(bool at_rest, TimePoint now) {
  if (!asked_ && now >= next_look_) {
    asked_ = true;
    consumer_.ask_topics();
  }
  if (!at_rest || found_.empty()) return;
  if (const auto status = consumer_.subscribe(found_); !status) {
    telemetry::warn("the topics of the pattern have changed, and the client does not accept them",
                    {{"error", status.error().text()}});
    return found_.clear();
  }
  telemetry::info("topics found", {{"before", subscription_.names.size()}, {"now", found_.size()}});
  subscription_.names = std::move(found_);
  found_.clear();
  follows_from_ = next_interval(now);
}

}  // namespace laneway::lane
