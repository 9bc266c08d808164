#include "handler/produce/produce_handler.h"

#include <random>

namespace laneway::handler {
namespace {

constexpr Duration stop_interval = milliseconds(100);

/// With a permanent id, a new process can end the open transaction of its predecessor; without one, the id is
/// never used again.
std::string transactional_id(const config::Config& config, const config::ProduceSettings& settings) {
  if (!settings.transactional) return {};
  std::string id = config.client("group.id") + "-" + config.client("group.instance.id");
  if (config.client("group.instance.id").empty()) {
    std::random_device random;
    for (int i = 0; i < 4; ++i) id += std::to_string(random());
  }
  return id;
}

kafka::ProducerSettings producer_settings(const config::Config& config,
                                          const config::ProduceSettings& settings) {
  return {.client = kafka::producer_client(config.kafka, settings.client),
          .delivery_timeout = settings.timeout,
          .transactional_id = transactional_id(config, settings)};
}

Error of_handler(Error error) {
  error.message = "handler.produce: " + error.message;
  return error;
}

}  // namespace

Status ProduceHandler::check(const config::Config& config, const config::ProduceSettings& settings) {
  const auto checked = kafka::check_producer(producer_settings(config, settings));
  return checked ? Status() : of_handler(checked.error());
}

Result<std::unique_ptr<Handler>> ProduceHandler::make(const config::Config& config,
                                                      const config::ProduceSettings& settings) {
  auto of_producer = producer_settings(config, settings);
  std::unique_ptr<ProduceHandler> made(
      new ProduceHandler(settings, of_producer.client["bootstrap.servers"].value));
  of_producer.on_turn = [handler = made.get()] { handler->on_turn(); };
  auto producer = kafka::Producer::create(std::move(of_producer));
  if (!producer) return of_handler(producer.error());
  made->producer_ = std::move(producer).value();
  made->transaction_ = made->producer_->transaction();
  return std::unique_ptr<Handler>(std::move(made));
}

ProduceHandler::~ProduceHandler() {
  ending_.store(true);
  if (!producer_) return;  // the producer could not be made
  producer_->stop();       // records on their way are answered unavailable; the others stay unanswered
}

void ProduceHandler::handle(Task task) noexcept {
  {
    MutexLock lock(mutex_);
    handed_over_.push_back(std::move(task));
    if (handed_over_.size() > 1) return;  // another caller wakes the thread
  }
  producer_->wake();
}

std::optional<Error> ProduceHandler::fatal() const {
  if (transaction_ == nullptr) return std::nullopt;
  const auto why = transaction_->broken();
  if (!why) return std::nullopt;
  return Error{ErrorKind::fatal, "handler.produce: transactions cannot continue: " + *why,
               "start laneway again; nothing is lost or written twice"};
}

void ProduceHandler::on_turn() {
  if (ending_.load()) return;
  take_over();
  send_ready();
  give_up_stopped();
}

void ProduceHandler::take_over() {
  {
    MutexLock lock(mutex_);
    taken_over_.swap(handed_over_);
  }
  for (Task& task : taken_over_) {
    auto shipment =
        std::make_unique<Shipment>(settings_, std::move(task), static_cast<ShipmentOwner&>(*this), refused_);
    ready_.push_back(shipment.get());
    under_way_.emplace(shipment.get(), std::move(shipment));
  }
  taken_over_.clear();
}

void ProduceHandler::send_ready() {
  while (!ready_.empty() && may_send(*ready_.front()) && ready_.front()->send(*producer_)) ready_.pop_front();
}

bool ProduceHandler::may_send(Shipment& shipment) {
  if (transaction_ == nullptr || shipment.inside()) return true;
  if (!transaction_->enter()) return false;
  shipment.set_inside();
  return true;
}

void ProduceHandler::over(Shipment& shipment) {
  const bool inside = shipment.inside();
  under_way_.erase(&shipment);
  if (inside) transaction_->leave();
}

void ProduceHandler::not_written(const std::string& why, bool avoidable) {
  if (transaction_ != nullptr) transaction_->fail(why, avoidable);
}

void ProduceHandler::give_up_stopped() {
  const auto now = SteadyClock::now();
  if (now < next_look_) return;
  next_look_ = now + stop_interval;
  std::vector<Shipment*> all;  // a copy, because some shipments end during the loop
  for (const auto& item : under_way_) all.push_back(item.first);
  for (Shipment* shipment : all) shipment->give_up_if_stopped();
}

}  // namespace laneway::handler
