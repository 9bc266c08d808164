// The loop that laneway is compared with: subscribe, poll, count, destroy; one thread, no commits, no work.
// With `--to` it also writes each record to that topic, key and value, as an idempotent producer does.
//
// Reads `--records` records and prints one JSON line, measured from the first record to the last, or until
// the last is acknowledged.
#include <librdkafka/rdkafka.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "process.h"

namespace {

using Clock = std::chrono::steady_clock;

/// A broker that is silent for so long ends the run.
constexpr std::chrono::seconds patience{60};

struct Options {
  std::string bootstrap;
  std::string topic;
  std::string group;
  std::string to;
  std::int64_t records = 0;
};

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;

void set(rd_kafka_conf_t* conf, const char* key, const std::string& value) {
  std::array<char, 512> error{};
  if (rd_kafka_conf_set(conf, key, value.c_str(), error.data(), error.size()) != RD_KAFKA_CONF_OK)
    throw std::runtime_error(error.data());
}

Client subscribe(const Options& options) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", options.bootstrap);
  set(conf, "group.id", options.group);
  set(conf, "auto.offset.reset", "earliest");
  set(conf, "enable.auto.commit", "false");
  std::array<char, 512> error{};
  Client client(rd_kafka_new(RD_KAFKA_CONSUMER, conf, error.data(), error.size()));
  if (!client) throw std::runtime_error(error.data());
  rd_kafka_poll_set_consumer(client.get());
  const Partitions topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  if (const auto code = rd_kafka_subscribe(client.get(), topics.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("subscribe " + options.topic + ": " + rd_kafka_err2str(code));
  return client;
}

Client make_producer(const Options& options) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", options.bootstrap);
  set(conf, "enable.idempotence", "true");
  std::array<char, 512> error{};
  Client client(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error.data(), error.size()));
  if (!client) throw std::runtime_error(error.data());
  return client;
}

/// Waits for room in the queue.
void write(rd_kafka_t* producer, const Options& options, const rd_kafka_message_t& record) {
  for (;;) {
    const auto code = rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(options.to.c_str()),
                                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                        RD_KAFKA_V_KEY(record.key, record.key_len),
                                        RD_KAFKA_V_VALUE(record.payload, record.len), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      throw std::runtime_error("write: " + std::string(rd_kafka_err2str(code)));
    rd_kafka_poll(producer, 10);
  }
}

/// Nothing but the poll, the count and the destruction, and with a producer the writing.
void take(rd_kafka_t* client, rd_kafka_t* producer, const Options& options, std::int64_t records) {
  int silent = 0;
  for (std::int64_t taken = 0; taken < records;) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(client, 1000);
    if (message == nullptr) {
      if (++silent == patience.count())
        throw std::runtime_error("no record came; are there enough in the topic?");
      continue;
    }
    silent = 0;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++taken;
      if (producer != nullptr) write(producer, options, *message);
    }
    rd_kafka_message_destroy(message);
  }
  if (producer != nullptr && records > 1 &&
      rd_kafka_flush(producer, std::chrono::milliseconds(patience).count()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("not everything was acknowledged");
}

void run(const Options& options) {
  const Client client = subscribe(options);
  const Client producer = options.to.empty() ? nullptr : make_producer(options);
  take(client.get(), producer.get(), options, 1);
  const auto start = Clock::now();
  const double cpu = bench::cpu_seconds();
  take(client.get(), producer.get(), options, options.records - 1);
  const std::chrono::duration<double> wall = Clock::now() - start;
  const double used = bench::cpu_seconds() - cpu;
  const auto measured = static_cast<double>(options.records - 1);
  std::cout << nlohmann::ordered_json{{"case", "bare"},
                                      {"records", options.records - 1},
                                      {"seconds", wall.count()},
                                      {"rate", measured / wall.count()},
                                      {"cpu_us", used * 1e6 / measured},
                                      {"peak_mib", bench::peak_resident_mib()},
                                      {"received_bytes", bench::received_bytes()}}
            << '\n';
  rd_kafka_consumer_close(client.get());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The bare consumer loop, for comparison");
  Options options;
  app.add_option("--bootstrap", options.bootstrap, "host:port,…")->required();
  app.add_option("--topic", options.topic)->required();
  app.add_option("--group", options.group, "a new one")->required();
  app.add_option("--to", options.to, "a topic to write each record to");
  app.add_option("--records", options.records)->required()->check(CLI::Range(2L, 1L << 40));
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& failure) {
    std::cerr << "bare_loop: " << failure.what() << '\n';
    return 69;
  }
}
