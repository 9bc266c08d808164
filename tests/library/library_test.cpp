// The installed library's class, on an embedded cluster.
#include "laneway/laneway.hpp"

#include <atomic>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "app/process/signals.h"
#include "catch.h"
#include "kafka/produce/producer.h"
#include "mock_cluster.h"

using namespace laneway;

namespace {

class Cluster {
 public:
  Cluster() {
    REQUIRE(cluster_.ok());
    REQUIRE((*cluster_)->create_topic("orders", 4).ok());
  }

  void produce(int count) {
    auto producer =
        kafka::Producer::create({.client = {{"bootstrap.servers", {(*cluster_)->bootstrap(), {}}}}});
    REQUIRE(producer.ok());
    for (int i = 0; i < count; ++i) {
      const std::string value = std::to_string(i);
      REQUIRE((*producer)->send({.topic = "orders", .value = value}, nullptr).sent == kafka::Sent::accepted);
    }
    REQUIRE((*producer)->flush(Deadline::in(seconds(60))));
  }

  Options options() const {
    Options options;
    options.text =
        "kafka: { bootstrap.servers: \"" + (*cluster_)->bootstrap() +
        "\", group.id: g }\ntopics: [orders]\nretry: { backoff: 10ms }\nadmin: { enabled: false }\n";
    options.signals = false;
    return options;
  }

 private:
  Result<std::unique_ptr<kafka::MockCluster>> cluster_ = kafka::MockCluster::start(1);
};

}  // namespace

TEST_CASE("a lambda gets each record, its exceptions are retried, and it can end the service") {
  constexpr int records = 200;
  Cluster cluster;
  cluster.produce(records);
  std::atomic<int> done{0};
  std::atomic<int> thrown{0};
  Service* running = nullptr;
  Service service(cluster.options(), [&](const Record& record) {
    if (record.value() == "7" && record.attempt() == 1) {
      ++thrown;
      throw std::runtime_error("not at once");
    }
    if (++done == records) running->stop();
    return Answer::done();
  });
  running = &service;
  CHECK(service.run() == 0);
  CHECK(done == records);
  CHECK(thrown == 1);
}

TEST_CASE("a stop before run() ends the run at once") {
  const Cluster cluster;
  Service service(cluster.options(), [](const Record&) { return Answer::done(); });
  service.stop();
  CHECK(service.run() == 0);
}

TEST_CASE("a second stop cuts the drain short, and running records are abandoned") {
  Cluster cluster;
  cluster.produce(1);
  std::atomic<bool> begun{false};
  auto options = cluster.options();
  options.sets = {"lanes.drain=4m"};
  options.timeout = std::chrono::hours(1);
  Service service(options, [&](const Record& record) {
    begun = true;
    while (!record.wait(seconds(1))) {
    }
    return Answer::retry("stopped");
  });
  std::atomic<bool> ended{false};
  std::thread stopper([&] {
    while (!begun && !ended) std::this_thread::sleep_for(milliseconds(5));
    service.stop();
    std::this_thread::sleep_for(2 * app::same_wish);
    service.stop();
  });
  CHECK(service.run() == 75);
  ended = true;
  stopper.join();
}

TEST_CASE("an error that prevents the run gives an exit code and a text on standard error") {
  Options options;
  options.signals = false;
  const auto refused = [&options] {
    std::ostringstream text;
    auto* const before = std::cerr.rdbuf(text.rdbuf());
    const int code = Service(options, [](const Record&) { return Answer::done(); }).run();
    std::cerr.rdbuf(before);
    return std::to_string(code) + ' ' + text.str();
  };
  options.text = "kafka: { bootstrap.servers: b, group.id: g }\ntopics: [orders]\nhandler: log\n";
  CHECK_THAT(refused(), Catch::Contains("78 configuration:3:10: handler: this program does the work itself"));
  options.text = "kafka: { bootstrap.servers: b, group.id: g }\n";
  CHECK_THAT(refused(), Catch::Contains("topics: this key is missing") && !Catch::Contains("handler"));
  options.text.clear();
  options.file = "/nowhere.yaml";
  CHECK_THAT(refused(), Catch::StartsWith("66 ") && Catch::Contains("/nowhere.yaml"));
}

TEST_CASE("brokers that are unavailable end run() with 69") {
  Options options;
  options.text =
      "kafka: { bootstrap.servers: \"127.0.0.1:1\", group.id: g }\ntopics: [orders]\nstart_deadline: 1s\n"
      "admin: { enabled: false }\n";
  options.signals = false;
  CHECK(Service(options, [](const Record&) { return Answer::done(); }).run() == 69);
}
