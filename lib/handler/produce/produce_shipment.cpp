#include "handler/produce/produce_shipment.h"

#include <algorithm>

#include "config/checks/checks.h"
#include "handler/format/delivery_id.h"

namespace laneway::handler {
namespace {

/// The records of a task come from one partition.
kafka::TopicPartition origin_of(Task& task) {
  const Attempt first = task.attempt(0);
  return {std::string(first.record.topic()), first.record.partition()};
}

/// If several headers have the name, the last one counts, as in Kafka's own clients.
std::optional<std::string_view> last_value(const std::vector<kafka::Header>& headers, std::string_view name) {
  const auto found = std::find_if(headers.rbegin(), headers.rend(), [&](const kafka::Header& header) {
    return header.name == name && header.value;
  });
  return found == headers.rend() ? std::nullopt : found->value;
}

}  // namespace

Shipment::Shipment(const config::ProduceSettings& settings, Task task, ShipmentOwner& owner,
                   ProduceRefusals& refused)
    : settings_(settings),
      owner_(owner),
      refused_(refused),
      task_(std::move(task)),
      origin_(origin_of(*task_)),
      sequential_(task_->sequential()),
      one_at_a_time_(sequential_ && !settings.transactional),
      places_(task_->size()),
      stop_(task_->attempt(0).stop) {
  for (ShippedRecord& place : places_) place.shipment = this;
}

bool Shipment::send(kafka::Producer& producer) {
  while (!nothing_to_send() && !(one_at_a_time_ && on_their_way_ > 0))
    if (!send_one(producer)) return false;
  ready_ = false;
  settle();
  return true;
}

/// Returns false if the producer has no room.
bool Shipment::send_one(kafka::Producer& producer) {
  const Attempt attempt = task_->attempt(next_);
  stop_ = attempt.stop;
  if (attempt.stop.stop_requested()) {
    end_task();
    return true;
  }
  if (topic_.empty()) topic_ = config::topic_from_template(settings_.topic, attempt.source_topic());
  std::vector<kafka::Header> headers;
  if (settings_.keep_headers || !settings_.topic_header.empty() || !settings_.key_header.empty())
    headers = attempt.record.headers(attempt.trace);
  ShippedRecord& place = places_[next_];
  place.offset = attempt.record.offset();
  std::string refusal;
  const std::string* topic = destination(attempt, headers, refusal);
  if (topic == nullptr) {
    ++next_;
    answered(place, Outcome::reject(std::move(refusal)));
    return true;
  }
  if (!refused_.may_send(origin_, place.offset)) return false;
  if (settings_.keep_headers) {
    rename(headers);
    add_delivery_id(attempt, headers);
  } else {
    headers.clear();
  }
  const auto result = send_to(*topic, attempt, headers, producer);
  if (result.sent == kafka::Sent::full) return false;
  ++next_;
  if (result.sent == kafka::Sent::refused) {
    answered(place, outcome_of(result.refusal));
  } else {
    ++on_their_way_;
    refused_.sent(origin_, place.offset);
  }
  return true;
}

/// Returns null and sets `refusal` if the record must not be sent.
const std::string* Shipment::destination(const Attempt& attempt, const std::vector<kafka::Header>& headers,
                                         std::string& refusal) {
  if (auto earlier = refused_.refusal(origin_, attempt.record.offset(), attempt.number)) {
    refusal = std::move(*earlier);
    return nullptr;
  }
  return find_key(attempt, headers, refusal) ? topic_for(attempt, headers, refusal) : nullptr;
}

/// Returns false and sets `refusal` if there is no key.
bool Shipment::find_key(const Attempt& attempt, const std::vector<kafka::Header>& headers,
                        std::string& refusal) {
  key_ = settings_.keep_key ? attempt.record.key() : std::nullopt;
  if (!settings_.key_header.empty()) {
    key_ = last_value(headers, settings_.key_header);
    if (!key_)
      refusal =
          "the record has no header " + settings_.key_header + ", which handler.produce.key_header names";
    return key_.has_value();
  }
  if (settings_.key_field.empty()) return true;
  auto found = attempt.record.text_or_number_at(settings_.key_field);
  if (!found) {
    refusal = "the record's value has no text or whole number at " + settings_.key_field +
              ", which handler.produce.key_field names";
    return false;
  }
  key_text_ = std::move(*found);
  key_ = key_text_;
  return true;
}

void Shipment::rename(std::vector<kafka::Header>& headers) const {
  if (settings_.rename_headers.empty()) return;
  std::erase_if(headers, [&](kafka::Header& header) {
    const auto found = settings_.rename_headers.find(std::string(header.name));
    if (found == settings_.rename_headers.end()) return false;
    header.name = found->second;
    return found->second.empty();
  });
}

/// Replaces a delivery id in the record's headers, which an earlier service set: the written record is made
/// from this record.
void Shipment::add_delivery_id(const Attempt& attempt, std::vector<kafka::Header>& headers) {
  std::erase_if(headers, [](const kafka::Header& header) { return header.name == delivery_id_header; });
  delivery_id_.clear();
  append_delivery_id(delivery_id_, attempt);
  headers.push_back({delivery_id_header, delivery_id_});
}

kafka::SendResult Shipment::send_to(const std::string& topic, const Attempt& attempt,
                                    const std::vector<kafka::Header>& headers, kafka::Producer& producer) {
  const Content& record = attempt.record;
  kafka::Outgoing outgoing{.topic = topic, .value = record.value(), .headers = headers};
  if (settings_.partition == config::ProduceSettings::Partition::keep)
    outgoing.partition = record.partition();
  outgoing.key = key_;
  if (settings_.timestamp == config::ProduceSettings::Timestamp::keep)
    outgoing.timestamp = std::max(record.timestamp(), kafka::now_timestamp);
  return producer.send(outgoing, &places_[next_]);
}

std::optional<std::string> Shipment::named_topic(const Attempt& attempt,
                                                 const std::vector<kafka::Header>& headers) const {
  if (!settings_.topic_field.empty()) return attempt.record.text_at(settings_.topic_field);
  if (settings_.topic_header.empty()) return std::nullopt;
  const auto named = last_value(headers, settings_.topic_header);
  return named ? std::optional(std::string(*named)) : std::nullopt;
}

const std::string* Shipment::topic_for(const Attempt& attempt, const std::vector<kafka::Header>& headers,
                                       std::string& refusal) const {
  const bool by_field = !settings_.topic_field.empty();
  const auto named = named_topic(attempt, headers);
  if (!named) {
    if (!topic_.empty()) return &topic_;
    refusal = (by_field ? "the record's value has no text at " + settings_.topic_field
                        : "the record has no header " + settings_.topic_header) +
              ", and handler.produce.topic is not set";
    return nullptr;
  }
  const auto allowed = std::find(settings_.topics.begin(), settings_.topics.end(), *named);
  if (allowed != settings_.topics.end()) return &*allowed;
  refusal = (by_field ? "the text at " + settings_.topic_field + " in the record's value"
                      : "the record's header " + settings_.topic_header) +
            " names a topic that is not in handler.produce.topics";
  return nullptr;
}

void Shipment::arrived(ShippedRecord& place, const kafka::Delivery& delivery) {
  --on_their_way_;
  const bool avoidable = refused_.delivered(origin_, place.offset, delivery);
  if (delivery.status != kafka::DeliveryStatus::acknowledged) owner_.not_written(delivery.error, avoidable);
  const bool asked_again = settings_.transactional && ProduceRefusals::is_refusal(delivery);
  answered(place, asked_again ? std::nullopt : outcome_of(delivery));
  if (one_at_a_time_ && !nothing_to_send() && !ready_) {
    ready_ = true;
    owner_.ready(*this);
  }
  settle();
}

/// Without an outcome, the attempt had not begun.
void Shipment::answered(ShippedRecord& place, std::optional<Outcome> outcome) {
  failed_ = failed_ || !outcome || (sequential_ && outcome->verdict != Verdict::done);
  place.outcome = std::move(outcome);
  place.answered = true;
}

std::optional<Outcome> Shipment::outcome_of(const kafka::Delivery& delivery) {
  switch (delivery.status) {
    case kafka::DeliveryStatus::acknowledged:
      return Outcome::done();
    case kafka::DeliveryStatus::batch_refused:
    case kafka::DeliveryStatus::unknown_topic:
      return Outcome::retry(delivery.error);
    case kafka::DeliveryStatus::too_large:
    case kafka::DeliveryStatus::invalid:
      return Outcome::reject(delivery.error);
    case kafka::DeliveryStatus::withdrawn:
      return std::nullopt;
    case kafka::DeliveryStatus::unreachable:
    case kafka::DeliveryStatus::denied:
      break;
  }
  return Outcome::unavailable(delivery.error);
}

void Shipment::give_up_if_stopped() {
  if (!task_ || !stop_.stop_requested()) return;
  end_task();
  settle();
}

/// Answers the records that were sent, in order; records that were not sent, or were withdrawn, stay
/// unanswered. Records on their way are given up: the transaction fails first, so that it cannot be committed
/// with these answers.
void Shipment::end_task() {
  if (on_their_way_ > 0)
    owner_.not_written("a record was given up before the brokers acknowledged the record", false);
  for (std::uint32_t i = 0; i < next_; ++i) {
    ShippedRecord& place = places_[i];
    if (place.outcome)
      task_->answer(i, std::move(*place.outcome));
    else if (!place.answered)
      task_->answer(i, Outcome::timeout("stopped before the brokers acknowledged the record"));
  }
  task_.reset();
}

void Shipment::settle() {
  if (on_their_way_ > 0 || ready_) return;
  if (task_) end_task();
  owner_.over(*this);
}

}  // namespace laneway::handler
