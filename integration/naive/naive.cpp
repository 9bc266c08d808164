// A consumer as it is often written: one poll loop, bounded pools, and on a full pool "pause, sleep 50 ms,
// resume, continue". It commits automatically. Prints a JSON line with its counters every second. SIGTERM
// leaves the group and finishes what the pools have.
#include <librdkafka/rdkafka.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "work.h"

namespace naive {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds nap{50};  // as published

struct Options {
  std::string bootstrap;
  std::string topic;
  std::string group;
  std::string journal;
  std::string on_full = "drop";
  std::string commit_ms = "5000";  // the client's default
  std::size_t workers = 8;
  std::size_t queue = 64;
  bool shared = false;
  Sleep sleep;
};

struct Counters {
  std::int64_t polled = 0;
  std::int64_t rejected = 0;
  std::int64_t dropped = 0;
  std::int64_t naps = 0;
};

struct Destroyer {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using Client = std::unique_ptr<rd_kafka_t, Destroyer>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t, Destroyer>;

Partitions one(const std::string& topic, std::int32_t partition) {
  Partitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  return list;
}

Client subscribe(const Options& options) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::array<char, 512> error{};
  const std::map<std::string, std::string> settings = {{"bootstrap.servers", options.bootstrap},
                                                       {"group.id", options.group},
                                                       {"auto.offset.reset", "earliest"},
                                                       {"auto.commit.interval.ms", options.commit_ms},
                                                       {"session.timeout.ms", "10000"}};
  for (const auto& [key, value] : settings)
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), error.data(), error.size()) != RD_KAFKA_CONF_OK)
      throw std::runtime_error(error.data());
  Client client(rd_kafka_new(RD_KAFKA_CONSUMER, conf, error.data(), error.size()));
  if (!client) throw std::runtime_error(error.data());
  rd_kafka_poll_set_consumer(client.get());
  const auto topics = one(options.topic, RD_KAFKA_PARTITION_UA);
  if (const auto code = rd_kafka_subscribe(client.get(), topics.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error(rd_kafka_err2str(code));
  return client;
}

volatile std::sig_atomic_t stopped = 0;

class Loop {
 public:
  Loop(const Options& options, rd_kafka_t* client)
      : options_(options), client_(client), journal_(options.journal) {}

  void run() {
    auto report_at = Clock::now();
    while (stopped == 0) {
      if (Clock::now() >= report_at) {
        report();
        report_at += std::chrono::seconds(1);
      }
      Message message(rd_kafka_consumer_poll(client_, 100));
      if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      ++counters_.polled;
      give(std::move(message));
    }
    report();
  }

 private:
  void give(Message message) {
    const auto partition = message->partition;
    Pool& pool = pool_of(partition);
    while (!pool.submit(message)) {
      ++counters_.rejected;
      const auto list = one(options_.topic, partition);
      rd_kafka_pause_partitions(client_, list.get());
      std::this_thread::sleep_for(nap);  // the loop serves no partition meanwhile
      rd_kafka_resume_partitions(client_, list.get());
      ++counters_.naps;
      if (options_.on_full == "drop") {  // "continue": the message is gone
        ++counters_.dropped;
        return;
      }
    }
  }

  Pool& pool_of(std::int32_t partition) {
    auto& pool = pools_[options_.shared ? 0 : partition];
    if (!pool) pool = std::make_unique<Pool>(options_.workers, options_.queue, options_.sleep, journal_);
    return *pool;
  }

  void report() const {
    std::cout << nlohmann::json{{"polled", counters_.polled},
                                {"rejected", counters_.rejected},
                                {"dropped", counters_.dropped},
                                {"asleep_ms", counters_.naps * nap.count()}}
              << std::endl;
  }

  const Options& options_;
  rd_kafka_t* client_;
  Counters counters_;
  Journal journal_;
  std::map<std::int32_t, std::unique_ptr<Pool>> pools_;
};

void run(const Options& options) {
  std::signal(SIGTERM, [](int) { stopped = 1; });
  const Client client = subscribe(options);
  {
    Loop loop(options, client.get());
    loop.run();
    // Leaving commits what was polled; the pools then finish it. A graceful end, as published.
    rd_kafka_commit(client.get(), nullptr, 0);
    rd_kafka_unsubscribe(client.get());
  }
  rd_kafka_consumer_close(client.get());
}

}  // namespace

}  // namespace naive

int main(int argc, char** argv) {
  CLI::App app("A consumer as it is often written, for comparison");
  naive::Options options;
  app.add_option("--bootstrap", options.bootstrap)->required();
  app.add_option("--topic", options.topic)->required();
  app.add_option("--group", options.group)->required();
  app.add_option("--journal", options.journal, "a line for each finished record")->required();
  app.add_option("--workers", options.workers, "threads of a pool")->check(CLI::PositiveNumber);
  app.add_option("--queue", options.queue, "messages that wait in a pool")->check(CLI::PositiveNumber);
  app.add_flag("--shared", options.shared, "one pool for all partitions; otherwise one for each");
  app.add_option("--sleep", options.sleep.p50_ms, "median of the work, ms");
  app.add_option("--sleep-p99", options.sleep.p99_ms,
                 "99th percentile of the work, ms; 0: always the median");
  app.add_option("--commit", options.commit_ms, "automatic commits, ms");
  app.add_option("--on-full", options.on_full, "the rejected message: drop, or keep and try again")
      ->check(CLI::IsMember({"drop", "keep"}));
  CLI11_PARSE(app, argc, argv);
  try {
    naive::run(options);
  } catch (const std::exception& failure) {
    std::cerr << "naive_consumer: " << failure.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
