#include "admin/json/history_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace laneway::admin {
std::string history_json(const service::TimelineNews& news) {
  nlohmann::ordered_json json{
      {"started", news.started_ms},
      {"now", news.now_ms},
      {"complete", news.complete},
      {"last", news.last},
      {"columns", {"number", "at_ms", "rate", "lag", "ready", "breaker", "dead_letters", "rebalances"}},
      {"samples", nlohmann::ordered_json::array()},
      {"events", nlohmann::ordered_json::array()}};
  for (const auto& sample : news.samples)
    json["samples"].push_back({sample.number, sample.at_ms, std::round(sample.rate * 10.0) / 10.0, sample.lag,
                               sample.ready, name_of(sample.breaker), sample.dead_letters,
                               sample.rebalances});
  for (const auto& event : news.events)
    json["events"].push_back(
        {{"id", event.id},
         {"at_ms", event.at_ms},
         {"since_ms", event.since_ms},
         {"level", service::TimelineEvent::level_names[static_cast<std::size_t>(event.level)]},
         {"text", event.text}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace laneway::admin
