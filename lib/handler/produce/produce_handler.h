// `handler.produce`: writes each record to a topic; done when all in-sync replicas have it.
//
// What becomes of a record that is not acknowledged: brokers that do not answer in time, or that refuse the
// user, are unavailable; a record that is too large or invalid is rejected; a topic that is not there, and a
// batch that was refused for one of its records, are retries; the records of such a batch are then sent one
// at a time, to find out which it is (produce_refusals.h). Records are written at least once.
//
// Order: the records of a sequential task (one key, or one partition) are sent one at a time, the next when
// the one before is acknowledged. The idempotent producer would keep the order of what it can write, but one
// record that fails lets those behind it pass, and its next attempt would come after them. Records of other
// tasks are sent together.
//
// Transactional: records are written in the producer's transaction, and the lanes' offsets are committed in
// it (kafka/produce/transaction.h), so each record is written exactly once for readers of committed records.
// A task enters the transaction before its first record and leaves with its last answer; while a transaction
// ends, tasks wait here. A record that is not acknowledged fails the whole transaction, so records need not
// be sent one at a time to keep an order. One that was refused is answered reject when it comes again,
// without being sent: so it cannot fail the next transaction, too.
//
// A full client queue is back-pressure: tasks wait here, first come first served, and lanes fill up and hold.
//
// Threads: handle() passes the task on to the Producer's thread, which does all else. Nothing blocks. When a
// stop is requested a task ends within 100 ms: what is on its way to the brokers is answered retry, as nobody
// knows whether it will arrive.
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
  /// Of `config.handler`, which is `produce`. Brokers are not contacted yet. Error: configuration.
  static Result<std::unique_ptr<Handler>> make(const config::Config& config);
  /// What make() would say of the settings. No effects: no transaction is opened.
  static Status check(const config::Config& config);
  ~ProduceHandler() override;

  void handle(Task task) noexcept override EXCLUDES(mutex_);
  /// The delivery time-out comes first and knows more; this is the net behind it.
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
  kafka::Transaction* transaction_ = nullptr;  // the producer's; set before the first task
  std::atomic<bool> ending_{false};

  Mutex mutex_;
  std::vector<Task> handed_over_ GUARDED_BY(mutex_);

  // Of the Producer's thread.
  ProduceRefusals refused_;
  std::vector<Task> taken_over_;
  std::unordered_map<Shipment*, std::unique_ptr<Shipment>> under_way_;
  std::deque<Shipment*> ready_;  // to send, in this order
  TimePoint next_look_{};        // for stops

  std::unique_ptr<kafka::Producer> producer_;  // the last: its thread uses all of the above
};

}  // namespace laneway::handler
