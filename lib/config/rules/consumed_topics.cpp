#include "config/rules/consumed_topics.h"

#include <algorithm>

#include "config/checks/checks.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/text.h"

namespace laneway::config {

ConsumedTopics::ConsumedTopics(const Config& config) : texts_(config.topics) {
  if (!config.topics_by_pattern()) return;
  pattern_.emplace(config.topics.front());
  for (const auto& excluded : config.exclude_topics) {
    if (excluded.starts_with('^'))
      excluded_patterns_.emplace_back(excluded);
    else
      excluded_names_.push_back(excluded);
  }
  add_written(config);
}

void ConsumedTopics::add_written(const Config& config) {
  if (config.dead_letter.enabled()) written_.push_back({"dead_letter.topic", config.dead_letter.topic});
  for (const PoolSettings& pool : stages_of(config)) {
    if (const auto output = output_of(config.handler_of(pool)))
      written_.insert(written_.end(), output->topics.begin(), output->topics.end());
  }
}

bool ConsumedTopics::writes_to(const HandlerOutput::Topic& written, const std::string& topic) const {
  const auto source = topic_of_template(written.text, topic);
  return source && (source->empty() || pattern_->finds(*source));
}

std::string ConsumedTopics::left_out_by(const std::string& topic) const {
  if (!by_pattern() || !pattern_->finds(topic)) return "";
  const bool excluded =
      std::find(excluded_names_.begin(), excluded_names_.end(), topic) != excluded_names_.end() ||
      std::any_of(excluded_patterns_.begin(), excluded_patterns_.end(),
                  [&](const TopicPattern& pattern) { return pattern.finds(topic); });
  if (excluded) return "exclude_topics";
  const auto found = std::find_if(written_.begin(), written_.end(), [&](const HandlerOutput::Topic& written) {
    return writes_to(written, topic);
  });
  return found == written_.end() ? "" : found->key;
}

bool ConsumedTopics::contains(const std::string& topic) const {
  if (!by_pattern()) return std::find(texts_.begin(), texts_.end(), topic) != texts_.end();
  return pattern_->finds(topic) && left_out_by(topic).empty();
}

std::string ConsumedTopics::exclusions() const {
  std::vector<std::string> all;
  if (!excluded_names_.empty() || !excluded_patterns_.empty()) all.emplace_back("exclude_topics");
  for (const auto& written : written_) all.push_back(written.key + ' ' + written.text);
  return join(all, ", ");
}

}  // namespace laneway::config
