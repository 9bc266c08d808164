// The redrive and the reader on an embedded cluster. Two redrives at once: the scenario
// dead_letters/redrive.py, because this cluster refuses commits while a group rebalances, and Kafka does not.
#include <sstream>
#include <thread>

#include "app/dlq/redrive.h"
#include "app/dlq/verbs.h"
#include "catch.h"
#include "eventually.h"
#include "handler/forward/header_lists.h"
#include "kafka/produce/producer.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::dlq;

namespace {

class World {
 public:
  World() {
    REQUIRE(cluster_.ok());
    REQUIRE((*cluster_)->create_topic("orders", 2));
    REQUIRE((*cluster_)->create_topic("orders-dlt", 2));
    config.kafka["bootstrap.servers"] = {(*cluster_)->bootstrap(), "", false};
    config.kafka["group.id"] = {"shop", "", false};
    // Both less than a claim's own.
    config.kafka["session.timeout.ms"] = {"6000", "", false};
    config.kafka["max.poll.interval.ms"] = {"6000", "", false};
    config.topics = {"orders"};
    config.start_deadline = patience;
  }

  void write(std::int32_t partition, const std::string& key, const delivery::DeadLetter& about,
             delivery::Headers own = {}) {
    if (!producer_) {
      auto made = kafka::Producer::create({.client = kafka::producer_client(config.kafka)});
      REQUIRE(made);
      producer_ = std::move(made).value();
    }
    const auto headers = dead_letter_headers(std::move(own), about, delivery::HeaderFamily::spring);
    const auto views = handler::views_of(headers);
    const std::string topic = "orders-dlt";
    REQUIRE(producer_->send({.topic = topic, .partition = partition, .key = key, .headers = views}, nullptr)
                .sent == kafka::Sent::accepted);
    REQUIRE(producer_->flush(Deadline::in(patience)));
  }

  std::unique_ptr<Letters> open(const std::string& topic = "orders-dlt") {
    auto letters = Letters::open(config, {topic}, "shop-redrive");
    REQUIRE(letters);
    return std::move(letters).value();
  }

  Summary redrive(const Options& options) { return redrive(options, *open()); }
  Summary redrive(const Options& options, Letters& letters) {
    // Without asking: this cluster knows no retention.
    const Targets targets{{"orders", {2, {}, {}}}};
    return dlq::redrive(config, letters, options, targets, stop);
  }

  /// Keys of what is in partition 0 or 1 of the topic, in order.
  std::vector<std::string> keys(const std::string& topic, std::int32_t partition) {
    const auto letters = open(topic);
    const auto span = letters->span({topic, partition});
    REQUIRE(span);
    REQUIRE(letters->start(*span));
    std::vector<std::string> keys;
    for (bool at_end = false; !at_end;) {
      auto next = letters->next(Deadline::in(milliseconds(100)));
      REQUIRE(next);
      if (next->letter) {
        keys.emplace_back(next->letter->record.raw_key().value());
        last_headers = next->letter->headers;
      }
      at_end = next->at_end;
    }
    return keys;
  }

  static delivery::DeadLetter from(std::int32_t partition, std::string text = "boom") {
    delivery::DeadLetter about;
    about.topic = "orders";
    about.partition = partition;
    about.offset = 7;
    about.reason = delivery::DeadLetterReason::rejected;
    about.text = std::move(text);
    return about;
  }

  config::Config config;
  std::atomic<bool> stop{false};
  delivery::Headers last_headers;

 private:
  Result<std::unique_ptr<kafka::MockCluster>> cluster_ = kafka::MockCluster::start(1);
  std::unique_ptr<kafka::Producer> producer_;
};

using Keys = std::vector<std::string>;
using Counts = std::map<std::string, std::uint64_t>;

}  // namespace

TEST_CASE_METHOD(World,
                 "a redrive joins its group by the classic protocol, whatever the protocol of the service") {
  config.kafka["group.protocol"] = {"consumer", "", false};
  config.kafka["group.remote.assignor"] = {"uniform", "", false};
  config.kafka.erase("session.timeout.ms");  // which that protocol refuses
  write(0, "a", from(1));
  Options options;
  options.yes = true;
  const auto summary = redrive(options);
  CHECK_FALSE(summary.error);
  CHECK(keys("orders", 1) == Keys{"a"});
}

TEST_CASE_METHOD(World, "a redrive sends each letter once, to the topic that the letter came from") {
  for (int i = 0; i < 5; ++i) write(0, "a" + std::to_string(i), from(1));
  write(1, "b", from(0), {{"own", "1"}, {"laneway-redrives", "1"}});
  Options options;
  CHECK(redrive(options).sent == Counts{{"orders", 6}});
  CHECK(keys("orders", 0).empty());
  options.yes = true;
  const auto summary = redrive(options);
  CHECK_FALSE(summary.error);
  CHECK(summary.sent == Counts{{"orders", 6}});
  CHECK(keys("orders", 1) == Keys{"a0", "a1", "a2", "a3", "a4"});
  CHECK(keys("orders", 0) == Keys{"b"});
  CHECK(last_headers == delivery::Headers{{"own", "1"}, {"laneway-redrives", "2"}});
  CHECK(redrive(options).sent.empty());
  write(0, "a5", from(1));
  options.yes = false;
  const auto dry = redrive(options);
  CHECK(dry.sent == Counts{{"orders", 1}});
  CHECK(dry.sent_before == 6);
  options.yes = true;
  CHECK(redrive(options).sent == Counts{{"orders", 1}});
  CHECK(keys("orders", 1) == Keys{"a0", "a1", "a2", "a3", "a4", "a5"});
}

TEST_CASE_METHOD(World, "the next redrive sends the letters that a filter left, and no letter twice") {
  for (int i = 0; i < 6; ++i) write(0, std::to_string(i), from(0, i % 2 == 0 ? "even" : "odd"));
  Options options;
  options.yes = true;
  options.filter.reason = "odd";
  CHECK(redrive(options).sent == Counts{{"orders", 3}});
  CHECK(keys("orders", 0) == Keys{"1", "3", "5"});
  // What would be sent is asked for where nothing is: a claim waits until this cluster forgets the one
  // before.
  const auto would_be_sent = [&] {
    auto dry = options;
    dry.yes = false;
    return redrive(dry).sent;
  };
  CHECK(would_be_sent().empty());
  options.yes = false;
  const auto dry = redrive(options);
  CHECK(dry.sent_before == 3);
  CHECK(dry.left == Counts{{"not selected by the filter", 3}});
  options.yes = true;
  options.filter.reason = "even";
  CHECK(redrive(options).sent == Counts{{"orders", 3}});
  options.filter.reason.clear();
  CHECK(would_be_sent().empty());
  CHECK(keys("orders", 0) == Keys{"1", "3", "5", "0", "2", "4"});
}

TEST_CASE_METHOD(World, "a stopped redrive is continued by the next") {
  // Two minutes' worth: it is stopped long before its end on a loaded machine, too.
  for (int i = 0; i < 600; ++i) write(0, std::to_string(i), from(0));
  Options options;
  options.yes = true;
  options.rate = 5;
  const auto letters = open();
  Summary summary;
  std::thread redriving(
      [&] { summary = redrive(options, *letters); });  // the test's checks are this thread's
  const bool begun = eventually([&] { return keys("orders", 0).size() >= 3; });
  stop = true;
  redriving.join();
  REQUIRE(begun);
  CHECK(summary.interrupted);
  CHECK_FALSE(summary.error);
  stop = false;
  options.rate = 0;
  CHECK_FALSE(redrive(options).interrupted);
  Keys all;
  for (int i = 0; i < 600; ++i) all.push_back(std::to_string(i));
  CHECK(keys("orders", 0) == all);
}

TEST_CASE_METHOD(World, "dlq: list marks the letters that redrive has sent back, and --pending omits them") {
  write(0, "a", from(1));
  write(0, "b", from(0, "other"));
  write(1, "c", from(1));
  Options options;
  options.yes = true;
  options.filter.reason = "other";
  REQUIRE(redrive(options).sent == Counts{{"orders", 1}});
  options.filter.reason = "";
  std::ostringstream out;
  REQUIRE(show(*open(), {"", 0, 1}, 0, wall_clock_ms(), out));
  CHECK_THAT(out.str(), Catch::Contains("redrive         has sent this letter back"));
  out.str("");
  REQUIRE(show(*open(), {"", 0, 0}, 0, wall_clock_ms(), out));
  CHECK_THAT(out.str(), Catch::Contains("redrive         has not sent this letter back"));
  out.str("");
  REQUIRE(list(*open(), options, wall_clock_ms(), {out}));
  CHECK_THAT(out.str(),
             Catch::Contains("orders-dlt:0:0") && Catch::Contains(" yes rejected: other\n") &&
                 Catch::Contains(" no rejected: boom\n") &&
                 Catch::Contains("3 of 3 dead letters; redrive has sent back 1 of them (--pending"));
  out.str("");
  options.pending = true;
  REQUIRE(list(*open(), options, wall_clock_ms(), {out}));
  CHECK_THAT(out.str(), !Catch::Contains("other") && Catch::Contains("2 of 3 dead letters\n"));
  out.str("");
  options.json = true;
  REQUIRE(list(*open(), options, wall_clock_ms(), {out}));
  CHECK_THAT(out.str(), Catch::Contains(R"("sent_back":false)") && !Catch::Contains(R"("sent_back":true)"));
}

TEST_CASE_METHOD(World, "list counts letters, show finds one, and both report a letter that does not exist") {
  write(0, "a", from(1));
  write(0, "b", from(0, "other"));
  std::ostringstream out;
  Options options;
  options.filter.reason = "other";
  REQUIRE(list(*open(), options, wall_clock_ms(), {out}));
  CHECK_THAT(out.str(), Catch::Contains("orders-dlt:0:1 ") && Catch::Contains("1 of 2 dead letters"));
  out.str("");
  REQUIRE(show(*open(), {"", 0, 1}, 0, wall_clock_ms(), out));
  CHECK_THAT(out.str(), Catch::Contains("rejected") && Catch::Contains("other"));
  CHECK(show(*open(), {"", 0, 2}, 0, wall_clock_ms(), out).error().kind == ErrorKind::no_input);
  CHECK(show(*open(), {"", 2, 0}, 0, wall_clock_ms(), out).error().kind == ErrorKind::no_input);
  CHECK(Letters::open(config, {"none"}, "g").error().kind == ErrorKind::unavailable);
}

TEST_CASE_METHOD(World, "without a name, the dead-letter topics are those of the configuration") {
  const auto opened = [this] { return Letters::open(config, {}, "g"); };
  CHECK(opened().error().kind == ErrorKind::usage);
  config.dead_letter.topic = "{topic}-dlt";
  CHECK(opened().value()->partitions().size() == 2);
  config.topics = {"orders", "refunds"};
  CHECK(opened().value()->missing() == Keys{"refunds-dlt"});
  config.topics = {"^ord"};
  CHECK(opened().value()->partitions().size() == 2);
  config.topics = {"refunds"};
  CHECK(opened().error().kind == ErrorKind::unavailable);
}
