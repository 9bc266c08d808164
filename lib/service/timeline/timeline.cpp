#include "service/timeline/timeline.h"

#include <algorithm>

namespace laneway::service {
namespace {

/// At most so many bytes, and no character cut in two.
std::string shortened(const std::string& text) {
  if (text.size() <= Timeline::most_text) return text;
  auto end = Timeline::most_text - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

void Timeline::look(TimelineSample found, TimePoint now, std::int64_t wall_ms) {
  ready_ = ready_ && found.ready;
  breaker_ = std::max(breaker_, found.breaker);
  if (!is_due(now)) return;
  next_ = now + interval;
  if (wall_ms < last_ms_) set_back(last_ms_ - wall_ms);
  found.at_ms = wall_ms;
  found.ready = ready_;
  found.breaker = breaker_;
  found.number = ++last_number_;
  last_ms_ = wall_ms;
  ready_ = true;
  breaker_ = delivery::BreakerState::closed;
  if (samples_.size() < most_samples) return samples_.push_back(found);
  samples_[oldest_] = found;
  oldest_ = (oldest_ + 1) % most_samples;
}

void Timeline::set_back(std::int64_t by_ms) {
  for (auto& sample : samples_) sample.at_ms -= by_ms;
  for (auto& event : events_) {
    event.since_ms -= by_ms;
    event.at_ms -= by_ms;
  }
}

void Timeline::add(TimelineEvent::Level level, const std::string& text, std::int64_t wall_ms) {
  const auto number = ++last_number_;
  if (wall_ms < last_ms_) set_back(last_ms_ - wall_ms);
  last_ms_ = wall_ms;
  events_.push_back({number, number, wall_ms, wall_ms, level, shortened(text)});
  if (events_.size() > most_events) events_.pop_front();
}

void Timeline::amend(TimelineEvent::Level level, const std::string& text, std::int64_t wall_ms) {
  if (events_.empty()) return add(level, text, wall_ms);
  const auto id = events_.back().id;
  const auto begun = events_.back().since_ms;
  events_.pop_back();
  add(level, text, wall_ms);
  events_.back().id = id;
  events_.back().since_ms = std::min(begun, events_.back().at_ms);
}

TimelineNews Timeline::since(std::uint64_t number, std::int64_t wall_ms) const {
  TimelineNews news{started_ms_, wall_ms, samples_.size() < most_samples, last_number_, {}, {}};
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const auto& sample = samples_[(oldest_ + i) % samples_.size()];
    if (sample.number > number) news.samples.push_back(sample);
  }
  for (const auto& event : events_)
    if (event.number > number) news.events.push_back(event);
  return news;
}

}  // namespace laneway::service
