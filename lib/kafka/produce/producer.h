// Writes records to topics: idempotent, acknowledged by all in-sync replicas, without blocking.
//
// send() accepts a record, or reports that the client's queue is full (back-pressure: keep the record and try
// again in on_turn). Each accepted record is answered exactly once through its DeliverySink: acknowledged, or
// the reason why not. A record counts as written only if acknowledged. A record with another answer may have
// been written all the same (the broker's answer was lost); the client itself never writes a record twice.
// Records of one partition are written in the order of their send(). A record that fails lets later records
// pass, so a caller that needs an order of records that may fail sends each record after the answer to the
// previous record. Each broker has one request under way at a time: with more, a record can be lost that the
// client reports as acknowledged.
//
// With a transactional_id, records are sent only inside the transaction; outside it, send() answers
// withdrawn. The client is replaced after each abort, and after a commit during which a request went
// unanswered (kafka/produce/transaction.h).
//
// A client that fails permanently (a "fatal error" of the library) is replaced by a new client as soon as the
// old client has answered its accepted records; until then all sends are unreachable. Such a record may
// therefore be written twice. With a transactional_id the client is not replaced: the transaction is broken,
// and the service must be started again.
//
// Ownership: owns a client handle and the thread that reads its answers, and joins that thread. Sinks belong
// to the caller and must live until they are answered. stop(), or else the destructor, gives up unanswered
// records: every sink is called before it returns (patience: 10 s). A caller whose on_turn uses a pointer to
// the Producer must call stop() before that pointer changes. Threads: any number of threads may make calls;
// one thread calls stop(), after all others have stopped sending. Sinks and on_turn are called on the
// Producer's thread and must be brief; they may call send(). Blocks: flush() up to its deadline, stop() and
// the destructor; nothing else. (The Producer's own thread waits while a failed client is taken down.)
// Errors: for single records in Delivery; create() fails with kind configuration.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/request_watch.h"
#include "kafka/produce/transaction.h"
#include "kafka/record.h"
#include "kafka/types.h"

struct rd_kafka_op_s;  // an event

namespace laneway::kafka {

/// The partition is chosen by the hash of the key as in Java's client (murmur2), or at random without a key.
inline constexpr std::int32_t any_partition = -1;
inline constexpr std::int64_t now_timestamp = 0;

/// A record to be written. send() copies everything.
struct Outgoing {
  const std::string& topic;
  std::int32_t partition = any_partition;
  std::optional<std::string_view> key{};
  std::optional<std::string_view> value{};
  std::span<const Header> headers{};       ///< in order
  std::int64_t timestamp = now_timestamp;  ///< ms since 1970
};

enum class DeliveryStatus : std::uint8_t {
  acknowledged,
  unreachable,    ///< Not acknowledged in time, or given up at the end; not the record's fault.
  batch_refused,  ///< Brokers refused a batch because of one of its records: try again.
  too_large,      ///< The record is larger than the brokers or message.max.bytes allow.
  /// The brokers will never accept this record: no key in a compacted topic, or a timestamp too far off.
  invalid,
  unknown_topic,  ///< The topic or the partition does not exist.
  denied,         ///< The user lacks a right; the error names the right.
  withdrawn,      ///< The record was not written because its transaction failed or was aborted.
};

/// The outcome of a record.
struct Delivery {
  DeliveryStatus status = DeliveryStatus::acknowledged;
  std::string error;  ///< human-readable; empty if acknowledged
  std::int32_t partition = any_partition;
  std::int64_t offset = no_offset;
};

class DeliverySink {
 public:
  virtual ~DeliverySink() = default;
  virtual void delivered(const Delivery& delivery) noexcept = 0;
};

enum class Sent : std::uint8_t {
  accepted,  ///< The sink will be called.
  full,      ///< The client's queue is full and did not accept the record: try again later.
  refused,   ///< Refused at once, with the reason in `refusal`: the sink will not be called.
};
struct SendResult {
  Sent sent = Sent::accepted;
  Delivery refusal;
};

struct ProducerSettings {
  ClientSettings client;  ///< made by producer_client()
  /// A record that is not acknowledged within this time after send() is unreachable.
  Duration delivery_timeout = seconds(30);
  /// All records are written in transactions (kafka/produce/transaction.h) with this id; empty: without
  /// transactions.
  std::string transactional_id{};
  /// The brokers abort a transaction that is open for longer than this time and longer than the delivery
  /// time-out.
  Duration transaction_timeout = seconds(10);
  /// Called when answers have come, after wake(), and every 100 ms. May be empty.
  std::function<void()> on_turn{};
};

/// The keys of a consumer's configuration that a producer has as well (connection, TLS, SASL), replaced by
/// `overrides` of the same name. The consumer's credentials are left out if `overrides` names other brokers.
ClientSettings producer_client(const ClientSettings& consumer, const ClientSettings& overrides = {});

/// Checks that the client accepts these settings, without brokers and outside any transaction: no broker is
/// contacted, and no producer with the same transactional_id is replaced.
Status check_producer(ProducerSettings settings);

class Producer {
 public:
  static Result<std::unique_ptr<Producer>> create(ProducerSettings settings);
  ~Producer() { stop(); }

  /// `sink` may be null: then only the counters below change.
  SendResult send(const Outgoing& record, DeliverySink* sink) EXCLUDES(mutex_);
  /// Makes the Producer call on_turn soon.
  void wake() EXCLUDES(mutex_);
  /// Sends lingering records and waits for the answers, in the order of send. Returns false if answers are
  /// missing at the deadline.
  bool flush(Deadline deadline) EXCLUDES(mutex_);
  /// Answers all records and joins the thread. Afterwards only the counters may be read.
  void stop() EXCLUDES(mutex_);
  std::uint64_t acknowledged() const { return acknowledged_.load(); }
  std::uint64_t failed() const { return failed_.load(); }
  const Renewals& renewals() const { return renewals_; }
  /// Null without a transactional_id. Lives as long as the Producer.
  Transaction* transaction() { return transaction_.get(); }

 private:
  Producer(ProducerSettings settings, std::unique_ptr<RequestWatch> requests, HandlePtr client);
  std::unique_ptr<Transaction> make_transaction();
  void run();
  void serve(rd_kafka_op_s* event);
  void serve_deliveries(rd_kafka_op_s* event);
  SendResult send_now(const Outgoing& record, DeliverySink* sink);
  Delivery failure_of(const rd_kafka_message_s& message, bool alone) const;
  bool notice_fatal();
  bool may_renew();
  void renew() EXCLUDES(mutex_);
  void keep_client(int users) EXCLUDES(mutex_);

  /// The Producer that this thread belongs to.
  static thread_local const Producer* here;

  const ProducerSettings settings_;
  const std::unique_ptr<RequestWatch> requests_;
  std::atomic<std::uint64_t> acknowledged_{0};
  std::atomic<std::uint64_t> failed_{0};
  Renewals renewals_;
  // Only the thread changes these two fields, under the mutex, and while no other thread uses the client. The
  // thread reads them without the mutex; other threads read them under the mutex, or while they use the
  // client.
  HandlePtr handle_;
  QueuePtr queue_;
  Mutex mutex_;
  int users_ GUARDED_BY(mutex_) = 0;
  std::atomic<bool> client_failed_{false};
  // set by the transaction, which does not use the client afterwards
  std::atomic<bool> renewal_asked_{false};
  std::atomic<Renewal> why_asked_{Renewal::aborted};
  TimePoint next_client_{};  // used only by the thread
  std::string trouble_;  // used only by the thread: the client's last error since a record was acknowledged
  const std::unique_ptr<Transaction> transaction_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace laneway::kafka
