#include "handler/produce/produce_topics.h"

#include <algorithm>
#include <set>
#include <string>

#include "config/checks/checks.h"
#include "config/client/client_keys.h"
#include "kafka/produce/producer.h"

namespace laneway::handler {
namespace {

using Topics = std::vector<kafka::TopicInfo>;

std::vector<std::string> names_of_outputs(const config::ProduceSettings& produce, const Topics& inputs) {
  std::set<std::string> names(produce.topics.begin(), produce.topics.end());
  if (!produce.topic.empty())
    for (const auto& input : inputs) names.insert(config::topic_from_template(produce.topic, input.name));
  return {names.begin(), names.end()};
}

/// The settings of the output's cluster, without those that only a producer has.
kafka::ClientSettings connection(const config::Config& config, const config::ProduceSettings& produce) {
  auto settings = kafka::producer_client(config.kafka, produce.client);
  std::erase_if(settings, [](const auto& item) { return config::find_client_key(item.first) == nullptr; });
  settings["group.id"] = config.kafka.at("group.id");  // a client without a group cannot be polled
  return settings;
}

Result<Topics> ask(const config::Config& config, const config::ProduceSettings& produce,
                   const std::vector<std::string>& names, kafka::Directory& directory, Duration timeout) {
  if (produce.client.empty()) return directory.topics(names, timeout);
  auto other = kafka::Directory::open(connection(config, produce));
  if (!other) return other.error();
  return (*other)->topics(names, timeout);
}

Status fits(const config::ProduceSettings& produce, const Topics& inputs, const kafka::TopicInfo& output) {
  std::int32_t partitions = 0;
  for (const auto& input : inputs) partitions = std::max(partitions, input.partitions);
  if (produce.partition == config::ProduceSettings::Partition::keep && output.partitions < partitions)
    return Error{ErrorKind::configuration,
                 "handler.produce.partition: topic " + output.name + " has " +
                     std::to_string(output.partitions) + " partitions, fewer than the " +
                     std::to_string(partitions) + " partitions of its input",
                 "add partitions to the topic, or set partition: by_key"};
  return {};
}

}  // namespace

Result<Topics> find_produce_topics(const config::Config& config, const config::ProduceSettings& produce,
                                   const Topics& inputs, kafka::Directory& directory, Duration timeout) {
  const auto names = names_of_outputs(produce, inputs);
  if (names.empty()) return Topics();
  auto outputs = ask(config, produce, names, directory, timeout);
  if (!outputs) {
    auto error = outputs.error();
    error.message = "handler.produce: " + error.message;
    return error;
  }
  for (const auto& output : *outputs)
    if (auto status = fits(produce, inputs, output); !status) return status.error();
  return outputs;
}

}  // namespace laneway::handler
