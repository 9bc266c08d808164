#include "kafka/directory.h"

#include <librdkafka/rdkafka.h>
#include <regex.h>

#include <algorithm>
#include <optional>

#include "kafka/handle.h"

namespace laneway::kafka {
namespace {

/// POSIX extended, as the library itself matches subscriptions.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : good_(regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (good_) regfree(&regex_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  bool good() const { return good_; }
  bool matches(const char* name) const { return regexec(&regex_, name, 0, nullptr, 0) == 0; }

 private:
  regex_t regex_{};
  bool good_;
};

Error missing(const std::string& topic, rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return {ErrorKind::unavailable, "topic " + topic + ": access denied",
            "the user needs Read and Describe on it"};
  if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    return {ErrorKind::unavailable, "topic " + topic + " does not exist", "create it, or correct `topics`"};
  return {ErrorKind::unavailable, "topic " + topic + ": " + rd_kafka_err2str(code), ""};
}

}  // namespace

class Directory::Implementation {
 public:
  Implementation(HandlePtr h, std::string servers) : handle(std::move(h)), bootstrap(std::move(servers)) {}
  HandlePtr handle;
  const std::string bootstrap;
};

Directory::Directory(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Directory::~Directory() = default;

Result<std::unique_ptr<Directory>> Directory::open(const ClientSettings& settings) {
  auto conf = make_conf(settings);
  if (!conf) return conf.error();
  set_own(conf->get(), "enable.auto.commit", "false");
  auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!handle) return handle.error();
  const auto servers = settings.find("bootstrap.servers");
  return std::unique_ptr<Directory>(new Directory(std::make_unique<Implementation>(
      std::move(handle).value(), servers == settings.end() ? "" : servers->second.value)));
}

Result<std::vector<TopicInfo>> Directory::topics(const std::vector<std::string>& subscription,
                                                 Duration timeout) {
  const rd_kafka_metadata_t* raw = nullptr;
  const auto code = rd_kafka_metadata(implementation_->handle.get(), 1, nullptr, &raw, to_ms(timeout));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return Error{ErrorKind::unavailable,
                 "the brokers at " + implementation_->bootstrap + " do not answer: " + rd_kafka_err2str(code),
                 "check kafka.bootstrap.servers and that the brokers run"};
  const MetadataPtr metadata(raw);
  brokers_ = static_cast<std::size_t>(metadata->broker_cnt);
  const auto* begin = metadata->topics;
  const auto* end = begin + metadata->topic_cnt;
  std::vector<TopicInfo> found;
  if (!subscription.empty() && subscription.front().rfind('^', 0) == 0) {
    const Pattern pattern(subscription.front());
    if (!pattern.good())
      return Error{ErrorKind::configuration,
                   "topics: '" + subscription.front() + "' is not a regular expression",
                   "POSIX extended syntax, starting with ^"};
    for (const auto* t = begin; t != end; ++t)
      if (pattern.matches(t->topic) && t->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        found.push_back({t->topic, t->partition_cnt});
    return found;
  }
  for (const auto& name : subscription) {
    const auto* t = std::find_if(begin, end, [&](const auto& topic) { return name == topic.topic; });
    if (t == end) return missing(name, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    if (t->err != RD_KAFKA_RESP_ERR_NO_ERROR) return missing(name, t->err);
    found.push_back({name, t->partition_cnt});
  }
  return found;
}

Result<std::vector<CommittedOffset>> Directory::committed(const std::vector<TopicPartition>& partitions,
                                                          Duration timeout) {
  const ListPtr list = to_list(partitions);
  const auto code = rd_kafka_committed(implementation_->handle.get(), list.get(), to_ms(timeout));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return client_error(code, "reading committed offsets");
  return committed_offsets(*list);
}

Status check_settings(const ClientSettings& settings) {
  auto opened = Directory::open(settings);
  if (!opened) return opened.error();
  return {};
}

Result<std::vector<std::string>> version_warnings(const ClientSettings& settings) {
  const int version = rd_kafka_version() >> 8;
  const std::string name = "librdkafka " + library_version();
  if (version == 0x020500 || version == 0x020a00)
    return Error{ErrorKind::fatal, name + " has a defect that stops consumers",
                 "install 2.5.3, 2.10.1 or another version"};
  std::vector<std::string> warnings;
  const auto value = [&](const char* key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second.value;
  };
  if (version < 0x020601 && value("partition.assignment.strategy").find("cooperative") != std::string::npos)
    warnings.push_back(name + " has known defects with cooperative-sticky (fixed in 2.6.1); range is safer");
  if (version < 0x020c00 && value("group.protocol") == "consumer")
    warnings.push_back(name + " has group.protocol=consumer only as a preview (general from 2.12.0)");
  return warnings;
}

std::string library_version() { return rd_kafka_version_str(); }

}  // namespace laneway::kafka
