#include "app/check/connect.h"

#include <algorithm>
#include <future>
#include <sstream>
#include <utility>
#include <vector>

#include "config/pools/pool_scope.h"
#include "config/text.h"
#include "config/units.h"
#include "handler/registry.h"
#include "kafka/admin/directory.h"
#include "service/topics/forward_topics.h"

namespace laneway::app {
namespace {

std::vector<kafka::TopicPartition> partitions_of(const std::vector<kafka::TopicInfo>& topics) {
  std::vector<kafka::TopicPartition> partitions;
  for (const auto& topic : topics)
    for (std::int32_t p = 0; p < topic.partitions; ++p) partitions.push_back({topic.name, p});
  return partitions;
}

/// The retry topics, which the service consumes too.
struct RetryTopics {
  std::vector<kafka::TopicInfo> found;
  std::size_t missing_partitions = 0;  ///< of the topics that the service would create
};

/// Questions to the brokers, which share one deadline.
class BrokerQuestions {
 public:
  explicit BrokerQuestions(const config::Config& config)
      : config_(config), deadline_(Deadline::in(patience(config))) {}

  Result<Cluster> ask();
  std::string details() const { return out_.str(); }
  bool timed_out() const { return deadline_.passed(); }

  static Duration patience(const config::Config& config) {
    return std::min<Duration>(config.start_deadline, longest_connect);
  }

 private:
  using Topics = std::vector<kafka::TopicInfo>;

  Duration left() const { return std::max<Duration>(deadline_.left(), milliseconds(1)); }
  void show(const char* kind, const kafka::TopicInfo& topic) {
    out_ << "  " << kind << ' ' << topic.name << ": "
         << config::counted(static_cast<std::uint64_t>(topic.partitions), "partition") << '\n';
  }
  Status ask_access(kafka::Directory& directory, const Topics& topics);
  Result<RetryTopics> ask_for_forward_topics(kafka::Directory& directory, const Topics& sources);
  Status ask_limits(kafka::Directory& directory, const std::vector<service::ForwardTopic>& topics);
  Status ask_commits(kafka::Directory& directory, const std::vector<kafka::TopicPartition>& partitions);

  const config::Config& config_;
  const Deadline deadline_;
  std::ostringstream out_;
};

Result<RetryTopics> BrokerQuestions::ask_for_forward_topics(kafka::Directory& directory,
                                                            const Topics& sources) {
  RetryTopics retry_topics;
  std::vector<service::ForwardTopic> existing;
  const auto topics = service::forward_topics(config_, sources);
  const auto found = directory.existing(service::names_of(topics), left());
  if (!found) return found.error();
  for (const auto& topic : topics) {
    const auto known = found->find(topic.name);
    const bool exists = known != found->end();
    if (exists) {
      show(topic.kind(), known->second);
      existing.push_back(topic);
    } else {
      out_ << "  " << topic.kind() << ' ' << topic.name << ": does not exist yet\n";
    }
    if (!topic.delay) continue;
    if (exists)
      retry_topics.found.push_back(known->second);
    else
      retry_topics.missing_partitions += static_cast<std::size_t>(topic.source.partitions);
  }
  if (const auto limits = ask_limits(directory, existing); !limits) return limits.error();
  for (const auto& warning : service::unread_retry_topics(config_, directory, left()))
    out_ << "  warning: " << warning << '\n';
  return retry_topics;
}

/// Whether records stay in the topics, and what loses them. Without the right to see the settings, a hint.
Status BrokerQuestions::ask_limits(kafka::Directory& directory,
                                   const std::vector<service::ForwardTopic>& topics) {
  const auto names = service::names_of(topics);
  const auto limits = directory.limits(names, left() / 2);  // the committed offsets are still to be read
  const auto hidden =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return !limits.contains(name); });
  if (hidden != names.end())
    out_ << "  the settings of topic " << *hidden
         << " are not visible, so its cleanup.policy and its retention.ms "
         << "are not checked (the user needs DescribeConfigs on the topic)\n";
  const auto verdict = service::judge_forward_topics(topics, limits);
  for (const auto& warning : verdict.warnings) out_ << "  warning: " << warning << '\n';
  if (verdict.refusal) return *verdict.refusal;
  return {};
}

/// Output topics exist, and the user may read the topics.
Status BrokerQuestions::ask_access(kafka::Directory& directory, const Topics& topics) {
  const auto outputs = handler::find_output_topics(config_, topics, directory, left());
  if (!outputs) return outputs.error();
  for (const auto& topic : *outputs) show("output topic", topic);
  const auto readable =
      directory.readable(topics, std::min<Duration>(left(), kafka::Directory::longest_refusal));
  if (!readable && !config_.topics_by_pattern()) return readable.error();
  if (!readable)
    out_ << "  " << readable.error().text() << '\n';  // the other topics are consumed nevertheless
  return {};
}

Status BrokerQuestions::ask_commits(kafka::Directory& directory,
                                    const std::vector<kafka::TopicPartition>& partitions) {
  const auto committed = directory.committed(partitions, left());
  if (!committed) return committed.error();
  const auto begun = std::count_if(committed->begin(), committed->end(),
                                   [](const auto& offset) { return offset.offset != kafka::no_offset; });
  out_ << "  group " << config_.client("group.id") << ": committed offsets in " << begun << " of "
       << config::counted(partitions.size(), "partition") << '\n';
  return {};
}

Result<Cluster> BrokerQuestions::ask() {
  auto opened = kafka::Directory::open(config_.kafka);
  if (!opened) return opened.error();
  kafka::Directory& directory = **opened;
  auto found = directory.consumed(config::ConsumedTopics(config_), left());
  if (!found) return found.error();
  auto& topics = found->topics;
  if (const auto offered = directory.offers_protocol(left()); !offered) return offered.error();
  for (const auto& topic : topics) show("topic", topic);
  for (const auto& topic : found->left_out) out_ << "  left out: topic " << topic << '\n';
  if (const auto access = ask_access(directory, topics); !access) return access.error();
  const auto later = ask_for_forward_topics(directory, topics);
  if (!later) return later.error();
  topics.insert(topics.end(), later->found.begin(), later->found.end());
  const auto partitions = partitions_of(topics);
  if (partitions.empty()) {
    out_ << "  no topic matches " << config_.topics.front() << " yet\n";
    return Cluster{.brokers = directory.brokers()};
  }
  if (const auto commits = ask_commits(directory, partitions); !commits) return commits.error();
  return Cluster{.partitions = partitions.size() + later->missing_partitions,
                 .brokers = directory.brokers(),
                 .known = true};
}

Answers ask_handler(const config::Config& config, const config::PoolSettings& pool) {
  const auto of = pool.named() ? " of the pool " + pool.name : "";
  const auto reached = handler::reach(config.handler_of(pool), BrokerQuestions::patience(config));
  if (reached) return {*reached ? "  handler" + of + ": " + **reached + '\n' : "", std::nullopt};
  Error error = reached.error();
  if (!of.empty()) error.message = "the handler" + of + ": " + error.message;
  return {"", std::move(error)};
}

/// Of the service or of its pools, all at the same time. The first error counts.
Answers ask_handlers(const config::Config& config) {
  std::vector<std::future<Answers>> asked;
  for (const auto& pool : stages_of(config))
    asked.push_back(std::async(std::launch::async, [&] { return ask_handler(config, pool); }));
  Answers all;
  for (auto& each : asked) {
    auto answers = each.get();
    all.details += answers.details;
    if (!all.error) all.error = std::move(answers.error);
  }
  return all;
}

}  // namespace

Connections ask_all(const config::Config& config) {
  const auto begun = SteadyClock::now();
  auto handler = std::async(std::launch::async, [&config] { return ask_handlers(config); });
  BrokerQuestions questions(config);
  const auto cluster = questions.ask();
  Connections connections;
  connections.brokers.details = questions.details();
  if (cluster) {
    connections.cluster = *cluster;
  } else {
    Error error = cluster.error();
    if (questions.timed_out())
      error.message += "; laneway check waited " + config::print_duration(BrokerQuestions::patience(config));
    connections.brokers.error = error;
  }
  connections.handler = handler.get();
  connections.took = SteadyClock::now() - begun;
  return connections;
}

std::string verdict(const Connections& connections) {
  const bool asked_handler = connections.handler.error || !connections.handler.details.empty();
  if (connections.brokers.error || connections.handler.error)
    return std::string("connections fail: ") + (connections.brokers.error ? "the brokers" : "the handler") +
           (connections.brokers.error && connections.handler.error ? " and the handler\n" : "\n");
  return std::string("connections work: the brokers ") + (asked_handler ? "and the handler " : "") +
         "answered in " + config::print_duration(std::chrono::ceil<milliseconds>(connections.took)) + '\n';
}

}  // namespace laneway::app
