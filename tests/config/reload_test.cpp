// What differs between two configurations, and what of it can be changed while the service runs.
#include "config/reload.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "catch.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "folders.h"
#include "loaded.h"

using namespace laneway;
using namespace laneway::config;

namespace {

Config config_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  const auto result = loaded(text, {}, sets);
  INFO(report(result.errors));
  REQUIRE(result.config);
  return *result.config;
}

std::vector<SettingChange> changes_by(const std::string& text, const std::vector<std::string>& sets) {
  return changes(config_of(text), config_of(text, sets));
}

const std::string with_letters = base + "dead_letter: { topic: letters }\n";

/// A file that only its owner may read.
class SecretFile {
 public:
  explicit SecretFile(const std::string& secret) { write(secret); }
  ~SecretFile() { std::filesystem::remove(path); }
  void write(const std::string& secret) const {
    std::filesystem::remove(path);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    REQUIRE(file >= 0);
    CHECK(::write(file, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()));
    ::close(file);
  }
  const std::string path = "/tmp/laneway-reload-test-" + std::to_string(::getpid());
};

}  // namespace

TEST_CASE("every key of the schema can change while the service runs, or has the reason for a restart") {
  STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Property>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Property, std::string>);
  STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Reload>);
  for (const Property& property : properties()) {
    INFO(property.name);
    CHECK(find_property(property.name) == &property);
  }
  CHECK(find_property("lanes.nonsense") == nullptr);
}

TEST_CASE("the keys that can change while the service runs are listed") {
  const std::set<std::string> expected = {"start_deadline",
                                          "lanes.workers",
                                          "lanes.queue",
                                          "lanes.pause_after",
                                          "lanes.drain",
                                          "lanes.drain_queued",
                                          "lanes.max_incomplete",
                                          "lanes.rate.records",
                                          "lanes.rate.bytes",
                                          "lanes.rate.burst",
                                          "commit.interval",
                                          "commit.every",
                                          "rate.records",
                                          "rate.bytes",
                                          "rate.burst",
                                          "retry.attempts",
                                          "retry.backoff",
                                          "retry.max_backoff",
                                          "retry.max_elapsed",
                                          "retry.max_waiting",
                                          "ledger.max_age",
                                          "ledger.policy",
                                          "dead_letter.max_rate",
                                          "lanes.park_after",
                                          "breaker.failures",
                                          "breaker.window",
                                          "breaker.probe",
                                          "breaker.slow",
                                          "admin.token_file",
                                          "admin.ready.stall",
                                          "log.level",
                                          "pools.NAME.workers",
                                          "pools.NAME.queue",
                                          "pools.NAME.total",
                                          "pools.NAME.retry_workers",
                                          "pools.NAME.longest_wait",
                                          "pools.NAME.rate.records",
                                          "pools.NAME.rate.bytes",
                                          "pools.NAME.rate.burst",
                                          "pools.NAME.breaker.failures",
                                          "pools.NAME.breaker.window",
                                          "pools.NAME.breaker.probe",
                                          "pools.NAME.breaker.slow",
                                          "pools.NAME.each.rate.records",
                                          "pools.NAME.each.rate.bytes",
                                          "pools.NAME.each.rate.burst",
                                          "pools.NAME.each.workers",
                                          "pools.NAME.each.longest_wait"};
  std::set<std::string> found;
  for (const Property& property : properties())
    if (property.reload.is_in_flight()) found.insert(property.name);
  CHECK(found == expected);
}

TEST_CASE("docs/operations.md names exactly the keys that can change while the service runs") {
  const std::string page = content_of(source_folder() + "/docs/operations.md");
  const auto begin = page.find("| changed while the service runs |");
  REQUIRE(begin != page.npos);
  std::istringstream rows(page.substr(begin, page.find("\n\n", begin) - begin));
  std::vector<std::string> names;  // "breaker.*" stands for all keys below it
  for (std::string row; std::getline(rows, row);) {
    const auto words = split(row.substr(0, row.find('|', 1)), "`");
    for (std::size_t i = 1; i < words.size(); i += 2) names.push_back(words[i]);
  }
  REQUIRE_FALSE(names.empty());
  const auto stands_for = [](const std::string& name, const std::string& key) {
    return name == key || (name.ends_with(".*") && key.starts_with(name.substr(0, name.size() - 1)));
  };
  std::set<std::string> used;
  for (const Property& property : properties()) {
    bool named = false;
    for (const auto& name : names) {
      if (!stands_for(name, property.name)) continue;
      named = true;
      used.insert(name);
    }
    INFO(property.name);
    CHECK(named == property.reload.is_in_flight());
  }
  CHECK(used == std::set(names.begin(), names.end()));
}

TEST_CASE("one changed key is one change, with both values") {
  struct Row {
    const char* set;
    const char* text;
    bool in_flight;
  };
  const auto row = GENERATE(
      Row{"lanes.workers=16", "lanes.workers: 8 → 16", true},
      Row{"lanes.queue=0", "lanes.queue: 256 → 0", true},
      Row{"lanes.drain_queued=return", "lanes.drain_queued: finish → return", true},
      Row{"lanes.rate.records=50", "lanes.rate.records: 0 → 50", true},
      Row{"rate.burst=500ms", "rate.burst: 1s → 500ms", true},
      Row{"retry.max_elapsed=90s", "retry.max_elapsed: 5m → 90s", true},
      Row{"ledger.policy=dead_letter", "ledger.policy: hold → dead_letter", true},
      Row{"dead_letter.max_rate=7", "dead_letter.max_rate: 5 → 7", true},
      Row{"breaker.failures=0", "breaker.failures: 5 → 0", true},
      Row{"commit.interval=5s", "commit.interval: 1s → 5s", true},
      Row{"log.level=debug", "log.level: info → debug", true},
      Row{"admin.ready.stall=2m", "admin.ready.stall: 1m → 2m", true},
      Row{"lanes.order=key", "lanes.order: none → key", false},
      Row{"lanes.memory=64MiB", "lanes.memory: 256MiB → 64MiB", false},
      Row{"topics=[orders, more]", "topics: [orders] → [orders, more]", false},
      Row{"consumers=2", "consumers: 1 → 2", false},
      Row{"retry.topics=[5s]", "retry.topics: [] → [5s]", false},
      Row{"dead_letter.topic=other", "dead_letter.topic: letters → other", false},
      Row{"admin.listen=127.0.0.1:1", "admin.listen: \"127.0.0.1:9644-9659\" → \"127.0.0.1:1\"", false},
      Row{"log.format=json", "log.format: text → json", false},
      Row{"handler=simulate", "handler: log → simulate", false},
      Row{"kafka.group.id=other", "kafka.group.id: orders → other", false},
      Row{"kafka.client.rack=a", "kafka.client.rack: (not set) → a", false});
  INFO(row.set);
  const auto found = changes_by(with_letters, {row.set});
  REQUIRE(found.size() == 1);
  CHECK(found[0].text() == row.text);
  CHECK(found[0].restart.empty() == row.in_flight);
  const auto refused = needs_restart(found);
  CHECK(refused.empty() == row.in_flight);
  if (!row.in_flight) CHECK(refused.starts_with(std::string(row.text) + ": needs a restart: "));
}

TEST_CASE("equal configurations have no changes, also when values are written differently") {
  CHECK(changes_by(with_letters, {}).empty());
  CHECK(changes_by(with_letters, {"lanes.drain=20000ms", "lanes.memory=262144KiB", "topics=orders"}).empty());
}

TEST_CASE("several changes are reported together, and those that need a restart are separate") {
  const auto found =
      changes_by(with_letters, {"lanes.workers=9", "consumers=3", "kafka.session.timeout.ms=6000"});
  REQUIRE(found.size() == 3);
  CHECK(found[0].key == "kafka.session.timeout.ms");
  CHECK(found[1].key == "consumers");
  CHECK(found[2].key == "lanes.workers");
  const auto refused = needs_restart(found);
  CHECK(refused.find("lanes.workers") == std::string::npos);
  CHECK(std::count(refused.begin(), refused.end(), '\n') == 2);
}

TEST_CASE("a changed setting of a handler needs a restart, also if only a hidden secret changes") {
  const std::string http = base.substr(0, base.find("handler:")) + "handler:\n  http: { url: \"http://a:";
  const auto found = changes(config_of(http + "one@h/x\" }\n"), config_of(http + "two@h/x\" }\n"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "handler.http.url");
  CHECK_FALSE(found[0].restart.empty());
  CHECK(found[0].text().find("another secret") != std::string::npos);
  CHECK(found[0].text().find("one") == std::string::npos);
  CHECK(found[0].text().find("two") == std::string::npos);
}

TEST_CASE("a changed secret of the client needs a restart and is not shown") {
  const auto with = [](const std::string& password) {
    const auto result =
        loaded(base, {{"LANEWAY_KAFKA__SASL_PASSWORD", password}},
               {"kafka.security.protocol=sasl_ssl", "kafka.sasl.mechanisms=PLAIN", "kafka.sasl.username=u"});
    INFO(report(result.errors));
    REQUIRE(result.config);
    return *result.config;
  };
  const auto found = changes(with("canary-one"), with("canary-two"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "kafka.sasl.password");
  CHECK_FALSE(found[0].restart.empty());
  CHECK(found[0].text().find("canary") == std::string::npos);
  CHECK(changes(with("canary-one"), with("canary-one")).empty());
}

TEST_CASE("a changed token takes effect while the service runs, and is not shown") {
  const SecretFile file("canary-first-token");
  const auto before = config_of(base, {"admin.token_file=" + file.path});
  file.write("canary-second-token");
  const auto after = config_of(base, {"admin.token_file=" + file.path});
  const auto found = changes(before, after);
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "admin.token_file");
  CHECK(found[0].restart.empty());
  CHECK(found[0].text().find("canary") == std::string::npos);
  CHECK(found[0].text().find("another secret") != std::string::npos);
}
