// What the programs of this folder share: the list of facts, and what a measurement is made of.
//
// A fact is a sentence about librdkafka that laneway relies on, and a function that finds out whether the
// client that is linked here behaves so. Each measurement runs in a process of its own (main.cpp), which ends
// with the measurement: handles and queues are freed only where a fact is about that, because some clients
// cannot be freed.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace client_facts {

/// What a measurement saw: whether the sentence is true of this client, and the figure that says so.
struct Seen {
  bool holds;
  std::string figure;
};

struct Fact {
  enum class Needs { mock, kafka };  ///< librdkafka's own mock cluster, or a real Kafka at KAFKA_BOOTSTRAP
  const char* name;
  Needs needs;
  const char* sentence;
  const char* relied_on;  ///< where: files of this repository, separated by blanks
  Seen (*measure)();
};

constexpr auto on_mock = Fact::Needs::mock;
constexpr auto on_kafka = Fact::Needs::kafka;

// One list a source file.
extern const std::vector<Fact> fetching_facts;
extern const std::vector<Fact> queue_facts;
extern const std::vector<Fact> group_facts;
extern const std::vector<Fact> position_facts;
extern const std::vector<Fact> producing_facts;
extern const std::vector<Fact> ending_facts;
extern const std::vector<Fact> setting_facts;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Settings = std::map<std::string, std::string>;

/// Kafka's numbers of requests, for the mock cluster and for interceptors.
enum Request : std::int16_t {
  produce = 0,
  fetch = 1,
  offset_commit = 8,
  join_group = 11,
  heartbeat = 12,
  end_txn = 26
};

/// Ends the process: the measurement cannot be made. Prints why.
[[noreturn]] void give_up(const std::string& why);

/// The topic of most measurements on a mock cluster.
constexpr const char* mock_topic = "measured";

/// A cluster inside this process, for as long as the process lives.
class Mock {
 public:
  explicit Mock(int brokers = 1);
  rd_kafka_mock_cluster_t* cluster() const { return cluster_; }
  std::string bootstrap() const;
  void create(const std::string& topic, int partitions = 1) const;
  /// The answer to the next request of this kind is this error, and comes so much later.
  void fail_next(Request request, rd_kafka_resp_err_t error, milliseconds late = {}) const;

 private:
  rd_kafka_mock_cluster_t* cluster_;
};

/// The address of the real Kafka.
std::string kafka_bootstrap();
/// On the real Kafka; returns a name that no topic had before.
std::string create_topic(int partitions, const Settings& configuration = {});
/// False while it cannot be.
bool create_again(const std::string& topic);
void alter_topic(const std::string& topic, const std::string& key, const std::string& value);
void add_partitions(const std::string& topic, int partitions);
void delete_topic(const std::string& topic);
void delete_records(const std::string& topic, std::int64_t before);

/// Why a key is refused; empty: it is taken.
std::string refused(rd_kafka_conf_t* conf, const char* key, const char* value);
rd_kafka_t* make(rd_kafka_type_t type, const Settings& settings,
                 const std::function<void(rd_kafka_conf_t*)>& adapt = {});
/// Without commits of its own, and with enable.partition.eof.
rd_kafka_t* consumer(const std::string& bootstrap, const Settings& more = {},
                     const std::function<void(rd_kafka_conf_t*)>& adapt = {});
rd_kafka_t* producer(const std::string& bootstrap, const Settings& more = {},
                     const std::function<void(rd_kafka_conf_t*)>& adapt = {});
/// Acknowledged records of 100 bytes, `batch` in a batch.
void fill(const std::string& bootstrap, const std::string& topic, int partition, int records,
          int batch = 500);

struct ListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
/// Freed always: a list that was given to the client keeps the partition, and the client cannot be freed.
using List = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;
List one(const std::string& topic, int partition, std::int64_t offset = RD_KAFKA_OFFSET_INVALID);
/// The partition's own queue, not forwarded to the consumer's.
rd_kafka_queue_t* own_queue(rd_kafka_t* client, const std::string& topic, int partition);
/// An assignment of one partition from its start, read by a queue of its own.
rd_kafka_queue_t* read_from_start(rd_kafka_t* client, const std::string& topic);

struct Popped {
  std::int64_t offset;
  rd_kafka_resp_err_t error;
};
std::optional<Popped> pop(rd_kafka_queue_t* queue, milliseconds wait);
/// The offset of the next record, or nothing when none comes in time. Ends of the partition and errors are
/// left out.
std::optional<std::int64_t> next_record(rd_kafka_queue_t* queue, milliseconds limit);
/// Serves the consumer's own queue, where errors and what is not a partition's come from.
void serve(rd_kafka_t* client, milliseconds wait = milliseconds(0));

bool eventually(const std::function<bool()>& condition, milliseconds limit = seconds(60));
/// As eventually(), but without an end to the measurement where it does not come true: ends the process.
void wait_for(const char* what, const std::function<bool()>& condition, milliseconds limit = seconds(60));
/// How long a call takes that may never return; nothing after `limit`. The call goes on in its thread.
std::optional<milliseconds> time_of(std::function<void()> call, milliseconds limit);
milliseconds since(Clock::time_point begin);

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace client_facts
