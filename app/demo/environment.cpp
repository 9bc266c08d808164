#include "app/demo/environment.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/demo/plan.h"
#include "config/loader.h"
#include "kafka/admin/directory.h"
#include "telemetry/log.h"

namespace laneway::demo {
namespace {

const std::string topic = "demo";
const std::string group = "demo";

Error cannot_write(const std::string& what, const std::string& why = std::strerror(errno)) {
  return {ErrorKind::no_input, "cannot write " + what + ": " + why,
          "set TMPDIR to a folder with room that you may write to"};
}

/// The embedded cluster differs from a real cluster: a rebalance lasts as long as a session less one second,
/// and no commit is accepted while members join. With the cooperative protocol, drains end before that.
std::string config_text(const std::string& bootstrap, milliseconds work) {
  const auto ms = [](milliseconds time) { return std::to_string(time.count()) + "ms"; };
  return "# The configuration of both members of the demo.\nkafka:\n  bootstrap.servers: " + bootstrap +
         "\n  group.id: " + group +
         "\n  partition.assignment.strategy: cooperative-sticky\n  session.timeout.ms: 3000\n"
         "  heartbeat.interval.ms: 200\ntopics: [" +
         topic + "]\nhandler:\n  simulate: { sleep: { p50: " + ms(work) + ", p99: " + ms(3 * work) +
         " } }\nlanes:\n  workers: " + std::to_string(workers) + "\n  queue: " + std::to_string(queue) +
         "\n  pause_after: 100ms\n  drain: 2s\ncommit: { interval: 500ms }\n";
}

}  // namespace

Environment::Environment(std::string folder) : folder_(std::move(folder)), sent_(partitions) {}

Result<std::unique_ptr<Environment>> Environment::create() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) return cannot_write("the folder for temporary files", error.message());
  std::string folder = parent / "laneway-demo-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return cannot_write(folder);
  std::unique_ptr<Environment> environment(new Environment(folder));
  if (auto status = environment->start(); !status) return status.error();
  return environment;
}

Status Environment::start() {
  const std::string log = folder_ + "/log";
  const int fd = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return cannot_write(log);
  telemetry::set_up_log(telemetry::Level::info, telemetry::Format::text, fd);
  auto cluster = kafka::EmbeddedCluster::start(1);
  if (!cluster) return cluster.error();
  cluster_ = std::move(cluster).value();
  if (auto status = cluster_->create_topic(topic, partitions); !status) return status;
  auto producer = kafka::Producer::create({.client = kafka::producer_client(client())});
  if (!producer) return producer.error();
  producer_ = std::move(producer).value();
  return {};
}

kafka::ClientSettings Environment::client() const {
  return {{"bootstrap.servers", {bootstrap(), "the demo", false}}, {"group.id", {group, "the demo", false}}};
}

Status Environment::write_config(milliseconds work) const {
  const std::string file = folder_ + "/demo.yaml";
  std::ofstream stream(file);
  stream << config_text(bootstrap(), work);
  stream.close();
  if (!stream) return cannot_write(file);
  return {};
}

Result<config::Config> Environment::config_of(std::size_t member) const {
  auto loaded = config::load({folder_ + "/demo.yaml", {"journal.file=" + journal_of(member)}, {}});
  if (!loaded.config) return Error{ErrorKind::internal, config::report(loaded.errors), ""};
  return std::move(*loaded.config);
}

std::string Environment::journal_of(std::size_t member) const {
  return folder_ + "/journal-" + std::to_string(member);
}

/// Unlike Kafka, the embedded cluster considers a join complete when the leader has sent the assignments: it
/// refuses members that ask for their assignment later, and these members join again, while no commit is
/// accepted. So the leader, which is the first member, gets its answers later. Both members join twice: first
/// the second member before the first, then, when lanes have been given back, after it.
Status Environment::expect_second_member() {
  constexpr milliseconds now{0};
  constexpr milliseconds later{100};
  return cluster_->delay_next(1, kafka::EmbeddedCluster::join_group, {now, later, later, now});
}

Status Environment::send(const std::vector<std::uint64_t>& due) {
  for (std::int32_t p = 0; p < partitions; ++p) {
    auto& sent = sent_[static_cast<std::size_t>(p)];
    for (; sent < due[static_cast<std::size_t>(p)]; ++sent) {
      const std::string order = std::to_string(sent);
      const std::string value = "{\"order\":" + order + "}";
      const kafka::Outgoing record{.topic = topic, .partition = p, .key = order, .value = value};
      if (producer_->send(record, nullptr).sent != kafka::Sent::accepted) return not_acknowledged();
    }
  }
  return {};
}

Status Environment::acknowledge() {
  if (producer_->flush(Deadline::in(seconds(10))) && producer_->failed() == 0) return {};
  return not_acknowledged();
}

Error Environment::not_acknowledged() const {
  return {ErrorKind::unavailable, "the embedded cluster has not acknowledged every record",
          "see " + folder_ + "/log"};
}

Result<std::vector<std::int64_t>> Environment::committed() const {
  auto directory = kafka::Directory::open(client());
  if (!directory) return directory.error();
  std::vector<kafka::TopicPartition> all;
  for (std::int32_t p = 0; p < partitions; ++p) all.push_back({topic, p});
  const auto answer = (*directory)->committed(all, seconds(5));
  if (!answer) return answer.error();
  std::vector<std::int64_t> committed(partitions, kafka::no_offset);
  for (const auto& offset : *answer)
    committed[static_cast<std::size_t>(offset.partition.partition)] = offset.offset;
  return committed;
}

}  // namespace laneway::demo
