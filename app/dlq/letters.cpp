#include "app/dlq/letters.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "app/dlq/filter.h"
#include "config/checks/checks.h"
#include "config/client/group_protocol.h"

namespace laneway::dlq {
namespace {

/// A person waits for the first answers: brokers that are out must show in seconds, and not in
/// start_deadline.
constexpr Duration longest_first_answer = seconds(8);

/// The consumer keys of the configuration with another group, and without the keys of membership: a claim
/// joins by a protocol of its own (kafka/admin/group_claim.h).
kafka::ClientSettings client_of(const config::Config& config, const std::string& group) {
  auto settings = config::without_membership(config.kafka);
  settings["group.id"].value = group;
  return settings;
}

void add_partitions(std::vector<kafka::TopicPartition>& partitions, const std::string& topic,
                    std::int32_t count) {
  for (std::int32_t partition = 0; partition < count; ++partition) partitions.push_back({topic, partition});
}

}  // namespace

Letters::Letters(const config::Config& config, const std::string& group)
    : patience_(config.start_deadline),
      first_patience_(std::min<Duration>(config.start_deadline, longest_first_answer)),
      settings_(client_of(config, group)) {}

Result<std::unique_ptr<Letters>> Letters::open(const config::Config& config,
                                               const std::vector<std::string>& topics,
                                               const std::string& group) {
  std::unique_ptr<Letters> letters(new Letters(config, group));
  auto directory = kafka::Directory::open(letters->settings_);
  if (!directory) return directory.error();
  letters->directory_ = std::move(directory).value();
  auto reader = kafka::TopicReader::open(letters->settings_);
  if (!reader) return reader.error();
  letters->reader_ = std::move(reader).value();
  if (auto found = topics.empty() ? letters->find_configured(config) : letters->find(topics); !found)
    return found.error();
  return letters;
}

Status Letters::find(const std::vector<std::string>& topics) {
  for (const auto& topic : topics) {
    const auto count = partitions_of(topic);
    if (!count) return count.error();
    add_partitions(partitions_, topic, *count);
  }
  return {};
}

Status Letters::find_configured(const config::Config& config) {
  if (!config.dead_letter.enabled())
    return Error{ErrorKind::usage, "the configuration has no dead-letter topic",
                 "name a topic with --topic TOPIC, or set dead_letter.topic"};
  const auto all = directory_->all_topics(first_patience_);
  if (!all) return all.error();
  const config::ConsumedTopics consumed(config);
  std::vector<std::string> origins;
  if (!consumed.by_pattern()) origins = consumed.texts();
  std::map<std::string, std::int32_t> there;
  for (const auto& topic : *all) {
    there[topic.name] = topic.partitions;
    if (consumed.by_pattern() && consumed.contains(topic.name)) origins.push_back(topic.name);
  }
  std::set<std::string> names;
  for (const auto& origin : origins)
    names.insert(config::topic_from_template(config.dead_letter.topic, origin));
  for (const auto& name : names)
    if (const auto found = there.find(name); found != there.end())
      add_partitions(partitions_, name, found->second);
    else if (!config.topics_by_pattern())
      missing_.push_back(name);
  if (!partitions_.empty()) return {};
  return Error{
      ErrorKind::unavailable,
      missing_.empty() ? "no topic has dead letters" : "topic " + missing_.front() + " does not exist",
      "a service creates the topic when it starts (dead_letter.create); --topic TOPIC names another topic"};
}

Result<std::int32_t> Letters::partitions_of(const std::string& topic) {
  const auto found = directory_->topics({topic}, first_patience_);
  if (!found) return found.error();
  return found->front().partitions;
}

Target Letters::target(const std::string& topic, std::int32_t partitions) {
  Target target{partitions, {}, {}};
  // Waits for a moment, not for start_deadline: old brokers do not answer.
  if (const auto kept = directory_->retention(topic, std::min<Duration>(patience_, seconds(5))))
    target.oldest = wall_clock_ms() - duration_cast<milliseconds>(*kept).count();
  return target;
}

Result<Targets> Letters::targets(const config::ConsumedTopics& consumed) {
  if (!consumed.by_pattern()) return targets(consumed.texts());
  Targets targets;
  const auto found = directory_->consumed(consumed, first_patience_);
  if (!found) return found.error();
  for (const auto& topic : found->topics) targets[topic.name] = target(topic.name, topic.partitions);
  return targets;
}

Targets Letters::targets(const std::vector<std::string>& topics) {
  Targets targets;
  for (const auto& topic : topics) {
    const auto count = partitions_of(topic);
    targets[topic] = count ? target(topic, *count) : Target{0, count.error().message, {}};
  }
  return targets;
}

Result<kafka::PartitionSpan> Letters::span(const kafka::TopicPartition& partition) {
  return reader_->span(partition, first_patience_);
}

Result<std::vector<lane::StoredCommit>> Letters::committed(Duration at_most) {
  const auto found = directory_->committed(partitions_, std::min<Duration>(patience_, at_most));
  if (!found) return found.error();
  std::vector<lane::StoredCommit> commits;
  for (const auto& commit : *found) commits.push_back(lane::StoredCommit::read(commit));
  return commits;
}

Result<SentBack> Letters::sent_back(const std::vector<kafka::PartitionSpan>& spans) {
  const auto commits = committed(seconds(5));
  if (!commits) return commits.error();
  SentBack sent;
  for (const auto& commit : *commits)
    for (const auto& span : spans)
      if (span.partition == commit.partition) sent.add(span.partition, sent_back_of(commit, span));
  return sent;
}

Result<std::unique_ptr<kafka::GroupClaim>> Letters::claim(const std::atomic<bool>& stop) {
  auto claim = kafka::GroupClaim::open(settings_, partitions_);
  if (!claim) return claim;
  const auto deadline = Deadline::in(std::max<Duration>(patience_, 2 * kafka::GroupClaim::forgotten_after));
  auto silence = Deadline::in(seconds(5));
  while (!stop.load()) {
    const auto taken = (*claim)->take(Deadline::in(milliseconds(100)));
    if (!taken) return taken.error();
    if (*taken == kafka::GroupClaim::Taken::yes) return claim;
    if (*taken == kafka::GroupClaim::Taken::given_way) break;
    if (silence.passed()) {
      std::fprintf(
          stderr, "waiting for another redrive to stop; a killed redrive expires after %lld s\n",
          static_cast<long long>(duration_cast<seconds>(kafka::GroupClaim::forgotten_after).count()));
      silence = deadline;
    }
    if (deadline.passed())
      return Error{ErrorKind::unavailable,
                   "group " + settings_.at("group.id").value + " is still held by another redrive",
                   "another redrive may still wait for its last records to be acknowledged; try again"};
  }
  return std::unique_ptr<kafka::GroupClaim>();
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
