// A task of `handler.produce` on its way to the brokers.
//
// Ownership: owned by the handler. A shipment lives until none of its records is on its way, which may be
// after its task has ended. Threads: only the Producer's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "handler/handler.h"
#include "handler/produce/produce_refusals.h"
#include "kafka/produce/producer.h"

namespace laneway::handler {

class Shipment;

/// The interface of the handler for its shipments.
class ShipmentOwner {
 public:
  virtual ~ShipmentOwner() = default;
  /// send() must be called.
  virtual void ready(Shipment& shipment) = 0;
  /// The shipment may be destroyed; this is its last call.
  virtual void over(Shipment& shipment) = 0;
  /// A record that was sent, or may have been sent, is not known to be written. `avoidable`: the record will
  /// not fail in the same way again.
  virtual void not_written(const std::string& why, bool avoidable) = 0;
};

class Shipment {
 public:
  /// `refused`: shared by the handler's shipments.
  Shipment(const config::ProduceSettings& settings, Task task, ShipmentOwner& owner,
           ProduceRefusals& refused);

  /// Whether the shipment has entered the transaction.
  bool inside() const { return inside_; }
  void set_inside() { inside_ = true; }
  /// Sends the records that may be sent now, once for each ready(). Returns false if the producer is full, or
  /// a record must be sent alone: call again later.
  bool send(kafka::Producer& producer);
  /// Ends the task if its stop was requested. This object may be destroyed by the call.
  void give_up_if_stopped();

 private:
  /// A record of the task.
  struct ShippedRecord final : kafka::DeliverySink {
    void delivered(const kafka::Delivery& delivery) noexcept override { shipment->arrived(*this, delivery); }

    Shipment* shipment = nullptr;
    std::int64_t offset = kafka::no_offset;  ///< of the input record
    bool answered = false;
    std::optional<Outcome> outcome;
  };

  bool send_one(kafka::Producer& producer);
  void rename(std::vector<kafka::Header>& headers) const;
  void add_delivery_id(const Attempt& attempt, std::vector<kafka::Header>& headers);
  kafka::SendResult send_to(const std::string& topic, const Attempt& attempt,
                            const std::vector<kafka::Header>& headers, kafka::Producer& producer);
  std::optional<std::string> named_topic(const Attempt& attempt,
                                         const std::vector<kafka::Header>& headers) const;
  const std::string* destination(const Attempt& attempt, const std::vector<kafka::Header>& headers,
                                 std::string& refusal);
  bool find_key(const Attempt& attempt, const std::vector<kafka::Header>& headers, std::string& refusal);
  const std::string* topic_for(const Attempt& attempt, const std::vector<kafka::Header>& headers,
                               std::string& refusal) const;
  void arrived(ShippedRecord& place, const kafka::Delivery& delivery);
  void answered(ShippedRecord& place, std::optional<Outcome> outcome);
  std::optional<Outcome> outcome_of(const kafka::Delivery& delivery);
  bool nothing_to_send() const {
    return !task_ || failed_ || next_ == places_.size() ||
           (one_at_a_time_ && next_ > 0 && task_->wanted_back());
  }
  void end_task();
  void settle();

  const config::ProduceSettings& settings_;
  ShipmentOwner& owner_;
  ProduceRefusals& refused_;
  std::optional<Task> task_;
  const kafka::TopicPartition origin_;
  const bool sequential_;
  const bool one_at_a_time_;
  std::string topic_;  ///< the topic if no header names one
  // Of the record that is being sent:
  std::string delivery_id_;
  std::optional<std::string_view> key_;
  std::string key_text_;  ///< the key, if it is a field of the value
  std::vector<ShippedRecord> places_;
  std::uint32_t next_ = 0;  ///< the next record to send
  std::uint32_t on_their_way_ = 0;
  bool ready_ = true;    ///< send() will be called
  bool failed_ = false;  ///< the rest is not sent
  bool inside_ = false;
  StopToken stop_;  ///< of the last attempt that began; valid while there is a task
};

}  // namespace laneway::handler
