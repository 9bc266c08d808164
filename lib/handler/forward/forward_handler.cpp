#include "handler/forward/forward_handler.h"

#include "config/checks/checks.h"
#include "delivery/dead_letter/dead_letter_cut.h"
#include "delivery/dead_letter/retry_headers.h"
#include "handler/forward/header_lists.h"
#include "handler/forward/retry_record.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr Duration delivery_timeout = seconds(10);
constexpr Duration queue_wait = milliseconds(50);
/// The default limit of topics; a larger record is first cut to this size.
constexpr std::size_t usual_record_limit = 1000000;
/// Larger than any topic's limit, so that the client's own limit does not apply first.
constexpr const char* largest_record = "100000000";

}  // namespace

/// A record on its way to the brokers, with the task that waits for it. Deletes itself when the record is
/// answered.
class ForwardHandler::Forward final : public kafka::DeliverySink {
 public:
  Forward(ForwardHandler& owner, Task task) : owner_(owner), task_(std::move(task)) {
    const Attempt attempt = task_.attempt(0);
    const auto& record = attempt.record.unread();
    content_ = {kafka::copy_of(record.raw_key()), kafka::copy_of(record.raw_value()), headers_of(record)};
    if (task_.route() == Route::dead_letter)
      to_dead_letters(attempt);
    else
      to_retry_topic(attempt);
    partition_ = owner.partition_for(topic_, record.partition());
    origin_ = kafka::TopicPartition{std::string(record.topic()), record.partition()}.text() + ":" +
              std::to_string(record.offset());
  }

  void send() noexcept {
    const auto headers = views_of(content_.headers);
    const auto result =
        owner_.producer_->send({topic_, partition_, content_.key, content_.value, headers}, this);
    if (result.sent == kafka::Sent::refused) return delivered(result.refusal);
    if (result.sent == kafka::Sent::full)
      answer(Outcome::unavailable("the producer's queue is full", queue_wait));
  }

  void delivered(const kafka::Delivery& delivery) noexcept override {
    using Status = kafka::DeliveryStatus;
    if (delivery.status == Status::acknowledged) return answer(Outcome::done());
    if (delivery.status == Status::too_large && task_.route() != Route::dead_letter)
      return answer(Outcome::reject("too large for " + topic_ + ": " + delivery.error));
    if (delivery.status == Status::too_large && cut()) return send();
    // The topic may have been created again with fewer partitions.
    if (delivery.status == Status::unknown_topic && partition_ != kafka::any_partition) {
      partition_ = kafka::any_partition;
      return send();
    }
    answer(Outcome::unavailable("record not written to " + topic_ + ": " + delivery.error));
  }

 private:
  void to_retry_topic(const Attempt& attempt) {
    topic_ =
        task_.route() == Route::parked ? *attempt.failures->parks_in : attempt.failures->retry_step->next;
    content_.headers = delivery::retry_headers(std::move(content_.headers), retry_origin(attempt));
  }

  void to_dead_letters(const Attempt& attempt) {
    topic_ = config::topic_from_template(owner_.settings_.topic, attempt.source_topic());
    const auto family = owner_.settings_.headers == config::DeadLetterHeaders::spring
                            ? delivery::HeaderFamily::spring
                            : delivery::HeaderFamily::connect;
    content_.headers =
        delivery::dead_letter_headers(std::move(content_.headers), owner_.dead_letter(attempt), family);
  }

  bool cut() {
    const auto size = delivery::record_bytes(content_.key, content_.value, content_.headers);
    if (size <= delivery::least_record_limit) return false;
    const auto limit = size > usual_record_limit ? usual_record_limit : size / 2;
    content_ = delivery::cut_to_fit(std::move(content_), limit);
    telemetry::warn("dead letter cut",
                    {{"record", origin_}, {"to", topic_}, {"bytes", size}, {"limit", limit}});
    return true;
  }

  void answer(Outcome outcome) {
    task_.answer(0, std::move(outcome));
    delete this;
  }

  ForwardHandler& owner_;
  Task task_;
  std::string topic_;
  std::string origin_;
  std::int32_t partition_ = kafka::any_partition;
  delivery::DeadLetterContent content_;
};

Result<std::unique_ptr<ForwardHandler>> ForwardHandler::make(const config::Config& config,
                                                             std::map<std::string, std::int32_t> partitions) {
  std::unique_ptr<ForwardHandler> made(new ForwardHandler(config, std::move(partitions)));
  kafka::ProducerSettings settings;
  settings.client =
      kafka::producer_client(config.kafka, {{"message.max.bytes", {largest_record, "default", false}}});
  settings.delivery_timeout = delivery_timeout;
  auto producer = kafka::Producer::create(std::move(settings));
  if (!producer) return producer.error();
  made->producer_ = std::move(producer).value();
  return made;
}

ForwardHandler::ForwardHandler(const config::Config& config, std::map<std::string, std::int32_t> partitions)
    : settings_(config.dead_letter), group_(config.client("group.id")), partitions_(std::move(partitions)) {}

void ForwardHandler::handle(Task task) noexcept { (new Forward(*this, std::move(task)))->send(); }

delivery::DeadLetter ForwardHandler::dead_letter(const Attempt& attempt) const {
  auto letter = described<delivery::DeadLetter>(attempt);
  letter.consumer_group = group_;
  letter.reason = attempt.failures->given_up;
  letter.text = attempt.failures->reason;
  return letter;
}

std::int32_t ForwardHandler::partition_for(const std::string& topic, std::int32_t origin) const {
  const auto found = partitions_.find(topic);
  return found != partitions_.end() && origin < found->second ? origin : kafka::any_partition;
}

}  // namespace laneway::handler
