// Which topics a service consumes: those that `topics` names, or those that its pattern finds.
//
// A pattern finds no topic that `exclude_topics` names, and no topic that the service writes to itself: a
// topic whose name dead_letter.topic or handler.produce.topic gives for a topic that the pattern finds.
// Otherwise a service could consume its own dead letters, and give them up again, to the dead-letter topic of
// its dead-letter topic, and so on. Whether the first topic exists, or is consumed, does not matter: so dead
// letters of dead letters are left out at any depth.
//
// Immutable; threads: any. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/checks/topic_pattern.h"
#include "config/config.h"
#include "config/handlers/handler_schema.h"

namespace laneway::config {

class ConsumedTopics {
 public:
  explicit ConsumedTopics(const Config& config);

  /// The topics are those that a pattern finds; others may be found later.
  bool by_pattern() const { return pattern_.has_value(); }
  /// As `topics` has them: the names, or the pattern.
  const std::vector<std::string>& texts() const { return texts_; }
  bool contains(const std::string& topic) const;
  /// The key because of which a topic that the pattern finds is not consumed, such as dead_letter.topic;
  /// empty if the topic is consumed, or is not found.
  std::string left_out_by(const std::string& topic) const;
  /// "exclude_topics, dead_letter.topic {topic}-dlt": what a pattern leaves out; empty if nothing.
  std::string exclusions() const;

 private:
  void add_written(const Config& config);
  bool writes_to(const HandlerOutput::Topic& written, const std::string& topic) const;

  std::vector<std::string> texts_;
  std::optional<TopicPattern> pattern_;
  std::vector<std::string> excluded_names_;
  std::vector<TopicPattern> excluded_patterns_;
  std::vector<HandlerOutput::Topic> written_;  // by the service itself
};

}  // namespace laneway::config
