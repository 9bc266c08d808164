#include "kafka/produce/producer.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

#include "config/client/client_keys.h"
#include "kafka/access/client_words.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/client/handle.h"
#include "kafka/produce/delivery_error.h"
#include "telemetry/log.h"

namespace laneway::kafka {
namespace {

constexpr Duration end_patience = seconds(10);
constexpr int turn_ms = 100;
constexpr Duration between_clients = seconds(1);
/// Added to the time that a request may take.
constexpr Duration call_slack = seconds(10);

using HeadersPtr = std::unique_ptr<rd_kafka_headers_t, Destroyer<rd_kafka_headers_destroy>>;

/// Null only for nullopt: an empty view with a null pointer still means empty bytes.
void* address(std::optional<std::string_view> bytes) {
  if (!bytes) return nullptr;
  return const_cast<char*>(bytes->data() == nullptr ? "" : bytes->data());
}

HeadersPtr headers_of(std::span<const Header> headers) {
  if (headers.empty()) return nullptr;
  HeadersPtr list(rd_kafka_headers_new(headers.size()));
  for (const Header& header : headers)
    rd_kafka_header_add(list.get(), header.name.data(), static_cast<ssize_t>(header.name.size()),
                        address(header.value), static_cast<ssize_t>(header.value ? header.value->size() : 0));
  return list;
}

using Fields = std::array<rd_kafka_vu_t, 8>;

/// The last field, headers, is omitted if there are no headers.
Fields fields_of(const Outgoing& record, rd_kafka_headers_t* headers, DeliverySink* sink) {
  Fields fields{};
  auto next = fields.begin();
  const auto content_of = [&next](rd_kafka_vtype_t type) -> auto& {
    next->vtype = type;
    return (next++)->u;
  };
  content_of(RD_KAFKA_VTYPE_TOPIC).cstr = record.topic.c_str();
  content_of(RD_KAFKA_VTYPE_PARTITION).i32 = record.partition;
  content_of(RD_KAFKA_VTYPE_MSGFLAGS).i = RD_KAFKA_MSG_F_COPY;
  content_of(RD_KAFKA_VTYPE_KEY).mem = {address(record.key), record.key ? record.key->size() : 0};
  content_of(RD_KAFKA_VTYPE_VALUE).mem = {address(record.value), record.value ? record.value->size() : 0};
  content_of(RD_KAFKA_VTYPE_TIMESTAMP).i64 = record.timestamp;
  content_of(RD_KAFKA_VTYPE_OPAQUE).ptr = sink;
  content_of(RD_KAFKA_VTYPE_HEADERS).headers = headers;
  return fields;
}

Result<HandlePtr> make_producer(const ProducerSettings& settings, RequestWatch* requests) {
  auto made = make_conf(settings.client);
  if (!made) return made.error();
  auto* conf = made->get();
  if (requests != nullptr) requests->install(conf);
  set_own(conf, "enable.idempotence", "true");
  set_own(conf, "acks", "all");
  set_own(conf, "delivery.timeout.ms", std::to_string(to_ms(settings.delivery_timeout)));
  set_default(settings.client, conf, "partitioner", "murmur2_random");
  // With the library's 30 s, a record for a topic that does not exist would time out first, without a word
  // about the topic.
  const auto unknown_for = std::min<Duration>(settings.delivery_timeout / 3, seconds(30));
  set_default(settings.client, conf, "topic.metadata.propagation.max.ms", std::to_string(to_ms(unknown_for)));
  // A broker that knows nothing of this producer yet accepts any first sequence number. If one request is
  // refused (too few in-sync replicas) and the next one is accepted (the replicas are back), the client
  // believes that both were written, and the first is lost. This cannot happen if each request is sent after
  // the answer to the previous one. (Seen with 2.0.2 and with 2.15.1.)
  set_own(conf, "max.in.flight", "1");
  if (!settings.transactional_id.empty()) {
    set_own(conf, "transactional.id", settings.transactional_id);
    const auto open_for = std::max(settings.transaction_timeout, settings.delivery_timeout);
    set_own(conf, "transaction.timeout.ms", std::to_string(to_ms(open_for)));
  }
  rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
  return make_handle(RD_KAFKA_PRODUCER, std::move(made).value());
}

}  // namespace

ClientSettings producer_client(const ClientSettings& consumer, const ClientSettings& overrides) {
  return config::client_of_producer(consumer, overrides);
}

Status check_producer(ProducerSettings settings) {
  settings.transactional_id.clear();
  settings.client.erase("bootstrap.servers");
  if (!makes_no_contact(settings.client)) {
    const auto conf = make_conf(settings.client);
    return conf ? Status() : conf.error();
  }
  const auto handle = make_producer(settings, nullptr);
  return handle ? Status() : handle.error();
}

thread_local const Producer* Producer::here = nullptr;

Result<std::unique_ptr<Producer>> Producer::create(ProducerSettings settings) {
  auto requests = settings.transactional_id.empty() ? nullptr : std::make_unique<RequestWatch>();
  auto handle = make_producer(settings, requests.get());
  if (!handle) return handle.error();
  return std::unique_ptr<Producer>(
      new Producer(std::move(settings), std::move(requests), std::move(handle).value()));
}

Producer::Producer(ProducerSettings settings, std::unique_ptr<RequestWatch> requests, HandlePtr client)
    : settings_(std::move(settings)),
      requests_(std::move(requests)),
      handle_(std::move(client)),
      queue_(rd_kafka_queue_get_main(handle_.get())),
      transaction_(settings_.transactional_id.empty() ? nullptr : make_transaction()),
      thread_([this] { run(); }) {}

std::unique_ptr<Transaction> Producer::make_transaction() {
  const auto renew = [this](Renewal why) {
    why_asked_.store(why);
    renewal_asked_.store(true);
    wake();
  };
  return std::make_unique<Transaction>(
      handle_.get(), *requests_, [this] { wake(); }, renew,
      config::request_timeout(settings_.client) + call_slack);
}

SendResult Producer::send(const Outgoing& record, DeliverySink* sink) {
  if (here == this) return send_now(record, sink);
  MutexLock lock(mutex_);
  return send_now(record, sink);
}

SendResult Producer::send_now(const Outgoing& record, DeliverySink* sink) {
  if (renewal_asked_.load())
    return {Sent::refused, {DeliveryStatus::withdrawn, "its transaction is aborted"}};
  auto headers = headers_of(record.headers);
  const auto fields = fields_of(record, headers.get(), sink);
  const std::size_t count = headers ? fields.size() : fields.size() - 1;
  const ErrorPtr error(rd_kafka_produceva(handle_.get(), fields.data(), count));
  if (!error) {
    (void)headers.release();  // the message now owns the headers
    return {};
  }
  const auto code = rd_kafka_error_code(error.get());
  if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return {Sent::full, {}};
  const bool fatal = notice_fatal();  // the code belongs to an earlier error
  if (transaction_ && (fatal || code == RD_KAFKA_RESP_ERR__STATE))
    return {Sent::refused, {DeliveryStatus::withdrawn, rd_kafka_error_string(error.get())}};
  auto refusal = failed_delivery(code, rd_kafka_error_string(error.get()), true, record.partition);
  if (fatal) refusal.status = DeliveryStatus::unreachable;
  return {Sent::refused, std::move(refusal)};
}

/// Checks whether the client has failed permanently.
bool Producer::notice_fatal() {
  char words[512];
  if (rd_kafka_fatal_error(handle_.get(), words, sizeof words) == RD_KAFKA_RESP_ERR_NO_ERROR) return false;
  if (client_failed_.exchange(true) || renewal_asked_.load()) return true;
  if (transaction_) {
    transaction_->break_off(words);
  } else {
    telemetry::error("producer failed, its client is replaced", {{"error", words}});
  }
  return true;
}

/// Replaces the client once all of its records have been answered, so that no record is answered twice.
/// Outside a transaction, the client has failed and answers its records by itself.
bool Producer::may_renew() {
  if (!(transaction_ ? renewal_asked_ : client_failed_).load()) return false;
  if (transaction_)
    rd_kafka_purge(handle_.get(),
                   RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
  return rd_kafka_outq_len(handle_.get()) == 0 && SteadyClock::now() >= next_client_;
}

void Producer::renew() {
  if (!transaction_) next_client_ = SteadyClock::now() + between_clients;
  auto made = make_producer(settings_, requests_.get());
  if (!made) {
    next_client_ = SteadyClock::now() + between_clients;
    return telemetry::error("producer has no new client yet", {{"error", made.error().text()}});
  }
  QueuePtr queue(rd_kafka_queue_get_main(made->get()));
  HandlePtr handle = std::move(made).value();
  {
    MutexLock lock(mutex_);
    if (users_ > 0) return;
    queue_.swap(queue);
    handle_.swap(handle);
    client_failed_.store(false);
  }
  queue.reset();  // destroyed before its client
  handle.reset();
  const auto why = transaction_ ? why_asked_.load() : Renewal::failed;
  renewals_.add(why);
  telemetry::info("producer has a new client", {{"reason", renewal_reasons[static_cast<std::size_t>(why)]}});
  if (!transaction_) return;
  requests_->reset();
  renewal_asked_.store(false);
  transaction_->renewed(handle_.get());
}

void Producer::run() {
  here = this;
  while (!stop_.load()) {
    if (const EventPtr event(rd_kafka_queue_poll(queue_.get(), turn_ms)); event) serve(event.get());
    if (may_renew()) renew();
    if (transaction_) transaction_->break_off_hanging();
    // called without the event, whose records have left the queue
    if (settings_.on_turn) settings_.on_turn();
  }
}

void Producer::serve(rd_kafka_event_t* event) {
  if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) return serve_deliveries(event);
  if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_ERROR) return;
  // A consequence of errors that are reported too, with a count of brokers that changes.
  if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
  trouble_ = connection_failure(explained(rd_kafka_event_error_string(event)), "");
  if (rd_kafka_event_error_is_fatal(event) != 0 && notice_fatal()) return;
  telemetry::log_repeating(telemetry::Level::warn, trouble_, "producer error", {{"error", trouble_}});
}

void Producer::serve_deliveries(rd_kafka_event_t* event) {
  const bool alone = rd_kafka_event_message_count(event) == 1;
  while (const auto* message = rd_kafka_event_message_next(event)) {
    const bool good = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    (good ? acknowledged_ : failed_).fetch_add(1, std::memory_order_relaxed);
    if (good) trouble_.clear();
    auto* sink = static_cast<DeliverySink*>(message->_private);
    if (sink == nullptr) continue;
    if (good)
      sink->delivered({DeliveryStatus::acknowledged, {}, message->partition, message->offset});
    else
      sink->delivered(failure_of(*message, alone));
  }
}

Delivery Producer::failure_of(const rd_kafka_message_t& message, bool alone) const {
  // rd_kafka_message_errstr() is for consumed messages only; here it would return the payload.
  std::string words = rd_kafka_err2str(message.err);
  if (message.err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT && !trouble_.empty()) words += ": " + trouble_;
  auto delivery = failed_delivery(message.err, words.c_str(), alone, message.partition);
  const bool purged =
      message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE || message.err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
  if (transaction_ && purged) delivery.status = DeliveryStatus::withdrawn;
  return delivery;
}

void Producer::wake() {
  MutexLock lock(mutex_);
  rd_kafka_queue_yield(queue_.get());
}

void Producer::keep_client(int users) {
  MutexLock lock(mutex_);
  users_ += users;
}

void Producer::stop() {
  if (!thread_.joinable()) return;  // already stopped
  if (transaction_) transaction_->end();
  keep_client(1);
  rd_kafka_purge(handle_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  const auto deadline = Deadline::in(end_patience);
  if (rd_kafka_flush(handle_.get(), to_ms(deadline.left())) != RD_KAFKA_RESP_ERR_NO_ERROR)
    telemetry::error("producer ends with unanswered records");
  stop_.store(true);
  wake();
  thread_.join();
}

bool Producer::flush(Deadline deadline) {
  keep_client(1);
  const bool all = rd_kafka_flush(handle_.get(), to_ms(deadline.left())) == RD_KAFKA_RESP_ERR_NO_ERROR;
  keep_client(-1);
  return all;
}

}  // namespace laneway::kafka
