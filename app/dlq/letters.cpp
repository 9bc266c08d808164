#include "app/dlq/letters.h"

#include <utility>

namespace laneway::dlq {
namespace {

/// Of the configuration: its consumer's keys, but another group, and no membership.
kafka::ClientSettings client_of(const config::Config& config, const std::string& group) {
  auto settings = config.kafka;
  settings.erase("group.instance.id");
  settings["group.id"].value = group;
  return settings;
}

}  // namespace

Result<std::unique_ptr<Letters>> Letters::open(const config::Config& config,
                                               const std::vector<std::string>& topics,
                                               const std::string& group) {
  std::unique_ptr<Letters> letters(new Letters(config));
  const auto settings = client_of(config, group);
  auto directory = kafka::Directory::open(settings);
  if (!directory) return directory.error();
  letters->directory_ = std::move(directory).value();
  auto reader = kafka::TopicReader::open(settings);
  if (!reader) return reader.error();
  letters->reader_ = std::move(reader).value();
  for (const auto& topic : topics) {
    const auto count = letters->partitions_of(topic);
    if (!count) return count.error();
    for (std::int32_t partition = 0; partition < *count; ++partition)
      letters->partitions_.push_back({topic, partition});
  }
  return letters;
}

Result<std::int32_t> Letters::partitions_of(const std::string& topic) {
  const auto found = directory_->topics({topic}, patience_);
  if (!found) return found.error();
  return found->front().partitions;
}

Result<Targets> Letters::topics_of(const std::vector<std::string>& subscription) {
  Targets targets;
  if (!subscription.empty() && subscription.front().starts_with('^')) {
    const auto found = directory_->topics(subscription, patience_);
    if (!found) return found.error();
    for (const auto& topic : *found) targets[topic.name] = {topic.partitions, {}};
    return targets;
  }
  for (const auto& topic : subscription) {
    const auto count = partitions_of(topic);
    targets[topic] = count ? Target{*count, {}} : Target{0, count.error().message};
  }
  return targets;
}

Result<kafka::PartitionSpan> Letters::span(const kafka::TopicPartition& partition) {
  return reader_->span(partition, patience_);
}

Result<std::vector<kafka::CommittedOffset>> Letters::committed() {
  return directory_->committed(partitions_, patience_);
}

Status Letters::commit(const kafka::CommittedOffset& offset) {
  return reader_->commit(offset, Deadline::in(patience_));
}

Status Letters::start(const kafka::PartitionSpan& span) {
  heard_ = SteadyClock::now();
  return reader_->start(span);
}

Result<Letters::Next> Letters::next(Deadline deadline) {
  auto next = reader_->next(deadline);
  if (!next) return next.error();
  const auto now = SteadyClock::now();
  if (next->record || next->at_end) heard_ = now;
  if (now - heard_ > patience_)
    return Error{ErrorKind::unavailable,
                 "the brokers do not answer" + (reader_->trouble().empty() ? "" : ": " + reader_->trouble()),
                 "check kafka.bootstrap.servers and that the brokers run"};
  if (!next->record) return Next{{}, next->at_end};
  return Next{Letter(std::move(next->record)), next->at_end};
}

}  // namespace laneway::dlq
