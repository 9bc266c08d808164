#include "app/connect.h"

#include <algorithm>
#include <vector>

#include "config/rules/retry_topics.h"
#include "handler/registry.h"
#include "kafka/admin/directory.h"

namespace laneway::app {
namespace {

std::vector<kafka::TopicPartition> partitions_of(const std::vector<kafka::TopicInfo>& topics) {
  std::vector<kafka::TopicPartition> partitions;
  for (const auto& topic : topics)
    for (std::int32_t p = 0; p < topic.partitions; ++p) partitions.push_back({topic.name, p});
  return partitions;
}

std::string partitions_text(std::int32_t count) {
  return std::to_string(count) + " partition" + (count == 1 ? "" : "s");
}

struct RetryTopics {
  std::vector<kafka::TopicInfo> found;
  std::size_t missing_partitions = 0;  ///< of those that would be created
};

Result<RetryTopics> ask_for_retry_topics(const config::Config& config,
                                         const std::vector<kafka::TopicInfo>& sources,
                                         kafka::Directory& directory, std::ostream& out) {
  RetryTopics topics;
  for (const auto& source : sources)
    for (const auto& delay : config.retry.topics) {
      const auto name = config::retry_topic(source.name, delay);
      const auto found = directory.find(name, config.start_deadline);
      if (!found) return found.error();
      out << "retry topic " << name << ": "
          << (*found ? partitions_text((**found).partitions) : "not there yet") << '\n';
      if (*found)
        topics.found.push_back(**found);
      else
        topics.missing_partitions += static_cast<std::size_t>(source.partitions);
    }
  return topics;
}

}  // namespace

Result<Cluster> ask_brokers(const config::Config& config, std::ostream& out) {
  auto directory = kafka::Directory::open(config.kafka);
  if (!directory) return directory.error();
  auto topics = (*directory)->topics(config.topics, config.start_deadline);
  if (!topics) return topics.error();
  if (const auto offered = (*directory)->offers_protocol(config.start_deadline); !offered)
    return offered.error();
  for (const auto& topic : *topics)
    out << "topic " << topic.name << ": " << partitions_text(topic.partitions) << '\n';
  const auto outputs = handler::find_output_topics(config, *topics, **directory, config.start_deadline);
  if (!outputs) return outputs.error();
  for (const auto& topic : *outputs)
    out << "output topic " << topic.name << ": " << partitions_text(topic.partitions) << '\n';
  const auto patience = std::min<Duration>(config.start_deadline, kafka::Directory::longest_refusal);
  const auto readable = (*directory)->readable(*topics, patience);
  if (!readable && !config.topics_by_pattern()) return readable.error();
  if (!readable) out << readable.error().text() << '\n';  // the others are consumed nevertheless
  const auto later = ask_for_retry_topics(config, *topics, **directory, out);
  if (!later) return later.error();
  topics->insert(topics->end(), later->found.begin(), later->found.end());
  const auto partitions = partitions_of(*topics);
  if (partitions.empty()) {
    out << "no topic matches " << config.topics.front() << " yet\n";
    return Cluster{.brokers = (*directory)->brokers()};
  }
  const auto committed = (*directory)->committed(partitions, config.start_deadline);
  if (!committed) return committed.error();
  const auto begun = std::count_if(committed->begin(), committed->end(),
                                   [](const auto& offset) { return offset.offset != kafka::no_offset; });
  out << "group " << config.client("group.id") << ": committed offsets in " << begun << " of "
      << partitions.size() << '\n';
  return Cluster{.partitions = partitions.size() + later->missing_partitions,
                 .brokers = (*directory)->brokers(),
                 .known = true};
}

Status ask_handler(const config::Config& config, std::ostream& out) {
  const auto reached = handler::reach(config.handler, config.start_deadline);
  if (!reached) return reached.error();
  if (*reached) out << "handler: " << **reached << '\n';
  return {};
}

}  // namespace laneway::app
