#include "produce.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "client.h"

namespace kafka_tool {

namespace {

struct Acknowledged {
  std::int64_t count = 0;
  std::int64_t first = -1;
  std::int64_t last = -1;
};

/// What became of the records; the client library calls report() from poll and flush, on our only thread.
class Ledger {
 public:
  Ledger(std::string topic, const std::string& acks_file) : topic_(std::move(topic)) {
    if (acks_file.empty()) return;
    acks_.open(acks_file, std::ios::app);
    if (!acks_) throw Failure(acks_file + " cannot be written");
  }

  static void report(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* opaque) {
    static_cast<Ledger*>(opaque)->delivered(*message);
  }

  /// Counts what was delivered since the last keep or drop.
  void keep() {
    std::string whole;  // in one piece: other processes write to the same file
    for (const auto& line : lines_) whole.append(line).push_back('\n');
    acks_.write(whole.data(), static_cast<std::streamsize>(whole.size()));
    acks_.flush();
    for (const auto& [partition, offset] : pending_) {
      auto& entry = partitions_[partition];
      if (entry.count++ == 0) entry.first = offset;
      entry.last = offset;
    }
    drop();
  }
  /// Forgets it: the transaction was aborted.
  void drop() {
    lines_.clear();
    pending_.clear();
  }

  std::int64_t failed() const { return failed_; }

  void print_summary() const {
    std::int64_t total = 0;
    for (const auto& [partition, entry] : partitions_) {
      total += entry.count;
      print({{"topic", topic_},
             {"partition", partition},
             {"acknowledged", entry.count},
             {"first", entry.first},
             {"last", entry.last}});
    }
    print({{"topic", topic_}, {"acknowledged", total}, {"failed", failed_}, {"error", last_error_}});
  }

 private:
  void delivered(const rd_kafka_message_t& message) {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++failed_;
      last_error_ = rd_kafka_err2str(message.err);
      return;
    }
    pending_.emplace_back(message.partition, message.offset);
    if (!acks_.is_open()) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    Json line = {{"topic", topic_},
                 {"partition", message.partition},
                 {"offset", message.offset},
                 {"key", nullptr},
                 {"number", reinterpret_cast<std::intptr_t>(message._private)},
                 {"time", std::chrono::nanoseconds(now).count()}};
    if (message.key != nullptr)
      line["key"] = key_hash({static_cast<const char*>(message.key), message.key_len});
    lines_.push_back(line.dump());
  }

  std::string topic_;
  std::ofstream acks_;
  std::vector<std::string> lines_;
  std::vector<std::pair<std::int32_t, std::int64_t>> pending_;
  std::map<std::int32_t, Acknowledged> partitions_;
  std::int64_t failed_ = 0;
  std::string last_error_;
};

class Writer {
 public:
  Writer(rd_kafka_t* client, const Load& load, std::vector<std::int32_t> partitions)
      : client_(client),
        load_(load),
        topic_(rd_kafka_topic_new(client, load.topic.c_str(), nullptr), rd_kafka_topic_destroy),
        partitions_(std::move(partitions)),
        value_(load.size, '.') {}

  void write(std::int64_t number) {
    const auto choice = load_.keys > 0 ? number % load_.keys : number;
    const auto partition = partitions_[static_cast<std::size_t>(choice) % partitions_.size()];
    const std::string key = "key-" + std::to_string(choice);
    const std::string text = std::to_string(number);
    fill_value(text);
    const auto deadline = Clock::now() + patience;
    for (;;) {
      const auto code = send(partition, load_.null_keys ? std::string_view() : key, number);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || Clock::now() > deadline)
        check(code, "produce to " + load_.topic);
      rd_kafka_poll(client_, 20);
    }
    if (number % 64 == 0) rd_kafka_poll(client_, 0);
  }

 private:
  void fill_value(const std::string& number) {
    if (load_.value.empty()) {
      value_.replace(0, std::min(number.size(), value_.size()), number, 0, value_.size());
      const auto begin = std::min(number.size(), value_.size());
      const auto end = std::min(begin + load_.random, value_.size());
      for (auto i = begin; i < end; ++i) value_[i] = "0123456789abcdef"[random_() % 16];
      return;
    }
    value_ = load_.value;
    if (const auto place = value_.find("{}"); place != value_.npos) value_.replace(place, 2, number);
  }

  rd_kafka_headers_t* headers(std::int64_t number) const {
    if (load_.header.empty()) return nullptr;
    const auto equals = load_.header.find('=');
    const auto name = load_.header.substr(0, equals);
    const auto text = equals == load_.header.npos ? std::to_string(number) : load_.header.substr(equals + 1);
    auto* headers = rd_kafka_headers_new(1);
    rd_kafka_header_add(headers, name.c_str(), -1, text.data(), static_cast<ssize_t>(text.size()));
    return headers;
  }

  rd_kafka_resp_err_t send(std::int32_t partition, std::string_view key, std::int64_t number) {
    auto* with = headers(number);
    const auto code =
        rd_kafka_producev(client_, RD_KAFKA_V_RKT(topic_.get()), RD_KAFKA_V_PARTITION(partition),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
                          RD_KAFKA_V_VALUE(value_.data(), value_.size()), RD_KAFKA_V_HEADERS(with),
                          RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(number)), RD_KAFKA_V_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && with != nullptr) rd_kafka_headers_destroy(with);
    return code;
  }

  rd_kafka_t* client_;
  const Load& load_;
  std::unique_ptr<rd_kafka_topic_t, void (*)(rd_kafka_topic_t*)> topic_;
  std::vector<std::int32_t> partitions_;
  std::string value_;
  std::minstd_rand random_;
};

volatile std::sig_atomic_t stopped = 0;

/// Calls `write` with 0, 1, … as count and rate allow, until SIGTERM.
void pace(const Load& load, rd_kafka_t* client, const std::function<void(std::int64_t)>& write) {
  std::signal(SIGTERM, [](int) { stopped = 1; });
  const auto start = Clock::now();
  for (std::int64_t number = 0; stopped == 0 && (load.count <= 0 || number < load.count); ++number) {
    if (load.rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(number) / load.rate);
      // Many writers at once are cheap when each wakes up 50 times a second, and not for every record.
      while (Clock::now() - start < due && stopped == 0) rd_kafka_poll(client, 20);
    }
    write(number);
  }
}

std::vector<std::int32_t> target_partitions(rd_kafka_t* client, const Load& load) {
  const auto count = require_topic(client, load.topic);
  if (!load.partitions.empty()) return load.partitions;
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

}  // namespace

std::int64_t produce(const std::string& bootstrap, const Load& load) {
  Ledger ledger(load.topic, load.acks_file);
  Settings settings = {{"enable.idempotence", "true"}, {"linger.ms", "5"}, {"message.timeout.ms", "240000"}};
  if (load.one_in_flight) {
    settings["enable.idempotence"] = "false";
    settings["max.in.flight.requests.per.connection"] = "1";
  }
  const auto client = connect(bootstrap, settings, Ledger::report, &ledger);
  Writer writer(client.get(), load, target_partitions(client.get(), load));
  pace(load, client.get(), [&](std::int64_t number) {
    writer.write(number);
    if (number % 1000 == 0) ledger.keep();
  });
  check(rd_kafka_flush(client.get(), 2 * patience_ms()), "the last acknowledgements");
  ledger.keep();
  ledger.print_summary();
  return ledger.failed();
}

std::int64_t produce_transactional(const std::string& bootstrap, const Load& load,
                                   std::int64_t per_transaction, std::int64_t abort_every) {
  Ledger ledger(load.topic, load.acks_file);
  const Settings settings = {{"transactional.id", "kafka_tool-" + std::to_string(getpid())},
                             {"linger.ms", "5"}};
  const auto client = connect(bootstrap, settings, Ledger::report, &ledger);
  Writer writer(client.get(), load, target_partitions(client.get(), load));
  check(rd_kafka_init_transactions(client.get(), patience_ms()), "init transactions");
  std::int64_t in_transaction = 0;
  std::int64_t transactions = 0;
  const auto finish = [&] {
    check(rd_kafka_flush(client.get(), patience_ms()), "acknowledgements of a transaction");
    ++transactions;
    if (abort_every > 0 && transactions % abort_every == 0) {
      check(rd_kafka_abort_transaction(client.get(), patience_ms()), "abort");
      ledger.drop();
    } else {
      check(rd_kafka_commit_transaction(client.get(), patience_ms()), "commit");
      ledger.keep();
    }
    in_transaction = 0;
  };
  pace(load, client.get(), [&](std::int64_t number) {
    if (in_transaction == 0) check(rd_kafka_begin_transaction(client.get()), "begin");
    writer.write(number);
    if (++in_transaction == per_transaction) finish();
  });
  if (in_transaction > 0) finish();
  ledger.print_summary();
  return ledger.failed();
}

}  // namespace kafka_tool
