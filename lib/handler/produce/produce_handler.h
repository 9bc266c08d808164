// `handler.produce`: writes each record to a topic. A record is done when all in-sync replicas have it.
//
// Outcomes of records that are not acknowledged: brokers that do not answer in time or refuse the user are
// unavailable; a record that is too large or invalid is rejected; a missing topic, and a batch that was
// refused because of one of its records, are retries. The records of such a batch are then sent one at a
// time, to find the cause (produce_refusals.h). Records are written at least once.
//
// Order: the records of a sequential task (one key, or one partition) are sent one at a time, each after the
// previous one is acknowledged. The idempotent producer would keep the order of the records that it can
// write, but if one record failed, the following records would pass it, and its next attempt would come after
// them. Records of different tasks are sent together.
//
// Transactional: records are written in the producer's transaction, and the lanes' offsets are committed in
// the same transaction (kafka/produce/transaction.h), so for readers of committed records each record is
// written exactly once. A task enters the transaction before its first record and leaves with its last
// answer; while a transaction ends, tasks wait here. A record that is not acknowledged fails the whole
// transaction, so records need not be sent one at a time to keep an order. A record that was refused is
// answered reject at its next attempt without being sent, so that it does not fail the next transaction too.
//
// A full client queue is back-pressure: tasks wait here, first come first served, and lanes fill up and hold.
//
// Threads: handle() passes the task to the Producer's thread, which does everything else. Nothing blocks.
// When a stop is requested, a task ends within 100 ms: records on their way to the brokers are answered
// retry, because it is not known whether they will arrive.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/produce/produce_shipment.h"
#include "kafka/produce/producer.h"

namespace laneway::handler {

class ProduceHandler final : public Handler, private ShipmentOwner {
 public:
  /// Brokers are not contacted yet. Error: configuration.
  static Result<std::unique_ptr<Handler>> make(const config::Config& config,
                                               const config::ProduceSettings& settings);
  /// Returns the error that make() would return for the settings. No side effects: no transaction is opened.
  static Status check(const config::Config& config, const config::ProduceSettings& settings);
  ~ProduceHandler() override;

  void handle(Task task) noexcept override EXCLUDES(mutex_);
  /// The delivery time-out comes first and knows more; this time-out is a safety net.
  Duration timeout() const override { return settings_.timeout + seconds(5); }
  bool asynchronous() const override { return true; }
  bool fills_tasks() const override { return true; }
  kafka::Transaction* transaction() override { return transaction_; }
  std::optional<Error> fatal() const override;
  const kafka::Renewals* renewals() const override { return &producer_->renewals(); }
  std::string name() const override { return "produce"; }
  std::string downstream() const override { return "Kafka at " + brokers_; }

 private:
  ProduceHandler(const config::ProduceSettings& settings, std::string brokers)
      : settings_(settings), brokers_(std::move(brokers)), refused_(settings.transactional) {}

  void on_turn();
  void take_over() EXCLUDES(mutex_);
  void send_ready();
  void give_up_stopped();
  bool may_send(Shipment& shipment);

  void ready(Shipment& shipment) override { ready_.push_back(&shipment); }
  void over(Shipment& shipment) override;
  void not_written(const std::string& why, bool avoidable) override;

  const config::ProduceSettings settings_;
  const std::string brokers_;
  kafka::Transaction* transaction_ = nullptr;  // the producer's transaction; set before the first task
  std::atomic<bool> ending_{false};

  Mutex mutex_;
  std::vector<Task> handed_over_ GUARDED_BY(mutex_);

  // Used only by the Producer's thread:
  ProduceRefusals refused_;
  std::vector<Task> taken_over_;
  std::unordered_map<Shipment*, std::unique_ptr<Shipment>> under_way_;
  std::deque<Shipment*> ready_;  // to be sent, in this order
  TimePoint next_look_{};        // the next check for stops

  std::unique_ptr<kafka::Producer> producer_;  // last, because its thread uses all of the above
};

}  // namespace laneway::handler
