// Writes records to topics: idempotent, acknowledged by all in-sync replicas, without blocking.
//
// send() takes a record or says that the client's queue is full (back-pressure: keep it and try again
// on_turn); each record taken is answered exactly once through its DeliverySink: acknowledged, or
// why not. A record counts as written only when acknowledged; one that is answered otherwise may have been
// written all the same (no answer came), and is never written twice by the client itself. Records of one
// partition are written in the order of their send(); one that fails lets the later ones pass, so whoever
// needs an order of records that may fail sends the next after the answer to the one before. To each broker
// one request is on its way at a time: with more, a record can be lost that the client reports as
// acknowledged.
//
// With a transactional_id nothing is sent but inside its transaction; else send() answers withdrawn. The
// client is replaced at each abort, and after a commit on whose way a request went unanswered
// (kafka/produce/transaction.h).
//
// A client that fails for good (a "fatal error" of the library) is replaced by a new one as soon as it has
// answered what it took; until then everything is unreachable. So such a record may be there twice. With a
// transactional_id it is not replaced: the transaction is broken, and the service must start again.
//
// Ownership: owns a client handle and the thread that reads its answers, which it joins. Sinks belong to the
// caller and live until they are answered. stop(), or else the destructor, gives up what is unanswered: every
// sink is called before it returns (patience: 10 s). Who sends on_turn through a pointer to the Producer
// calls stop() before that pointer changes. Threads: any number call everything; stop() one, once nobody else
// sends. Sinks and on_turn are called on the thread of the Producer and must be brief; they may call send().
// Blocks: flush() up to its deadline, stop() and the destructor; nothing else. (The Producer's own thread
// waits while a client that failed is taken down.) Errors: of single records in Delivery; create() fails with
// kind configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/transaction.h"
#include "kafka/record.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Partition by hash of the key as Java's client does (murmur2); without a key any one.
inline constexpr std::int32_t any_partition = -1;
inline constexpr std::int64_t now_timestamp = 0;

/// A record to be written. Everything is copied by send().
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
  unreachable,    ///< Not acknowledged in time, or given up at the end; not this record's fault.
  batch_refused,  ///< Brokers refused a batch of several for one of them: try again.
  too_large,      ///< The brokers, or message.max.bytes, do not take a record of this size.
  invalid,  ///< The brokers never take this record: no key in a compacted topic, a timestamp too far off.
  unknown_topic,  ///< There is no such topic or partition.
  denied,         ///< The user lacks a right; the error says which.
  withdrawn,      ///< It was not written because its transaction had failed, or was aborted.
};

/// What became of a record.
struct Delivery {
  DeliveryStatus status = DeliveryStatus::acknowledged;
  std::string error;  ///< for people; empty when acknowledged
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
  full,      ///< The client's queue is full: nothing was taken, try again later.
  refused,   ///< At once, as `refusal` says: the sink will not be called.
};
struct SendResult {
  Sent sent = Sent::accepted;
  Delivery refusal;
};

struct ProducerSettings {
  ClientSettings client;  ///< as producer_client() makes it
  /// A record that is not acknowledged so long after send() is unreachable.
  Duration delivery_timeout = seconds(30);
  /// Everything is written in transactions (kafka/produce/transaction.h) of this name; empty: without any.
  std::string transactional_id{};
  /// The brokers abort a transaction that is open for longer than this or the delivery time-out.
  Duration transaction_timeout = seconds(10);
  /// Called whenever answers have come, after wake(), and every 100 ms. May be empty.
  std::function<void()> on_turn{};
};

/// The keys of a consumer's configuration that a producer has as well (connection, TLS, SASL), with
/// `overrides` in place of those of the same name; without its credentials where these name other brokers.
ClientSettings producer_client(const ClientSettings& consumer, const ClientSettings& overrides = {});

/// Whether the client accepts these settings, found without brokers and outside any transaction: nobody is
/// contacted, and no producer of the same transactional_id is replaced.
Status check_producer(ProducerSettings settings);

class Producer {
 public:
  static Result<std::unique_ptr<Producer>> create(ProducerSettings settings);
  ~Producer();

  /// `sink` may be null: then only the counts below tell.
  SendResult send(const Outgoing& record, DeliverySink* sink);
  /// on_turn is called soon.
  void wake();
  /// Sends what lingers and waits for the answers, in the order of send; false if some are missing at the
  /// deadline.
  bool flush(Deadline deadline);
  /// Answers everything and joins the thread; nothing but the counts may be asked afterwards.
  void stop();
  std::uint64_t acknowledged() const;
  std::uint64_t failed() const;
  const Renewals& renewals() const;
  /// Null without a transactional_id. Lives as long as the Producer.
  Transaction* transaction();

 private:
  class Implementation;
  explicit Producer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
