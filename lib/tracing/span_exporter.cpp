#include "tracing/span_exporter.h"

#include <curl/curl.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/outside_json.h"
#include "curl/easy_handle.h"
#include "curl/url.h"
#include "telemetry/log.h"
#include "tracing/trace_context.h"

namespace laneway::tracing {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_waiting = 4096;
constexpr std::size_t most_in_request = 512;
constexpr Duration linger = milliseconds(500);
constexpr Duration between_lines = seconds(60);
constexpr int consumer_kind = 5;  // SPAN_KIND_CONSUMER
constexpr int status_error = 2;

Json text(const char* key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

/// 64-bit numbers are strings in OTLP's JSON.
Json number(const char* key, std::int64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

Json json_of(const Span& span, const std::string& group) {
  Json json = {{"traceId", print_id(span.trace_id)},
               {"spanId", print_id(span.span_id)},
               {"name", "pool.process"},
               {"kind", consumer_kind},
               {"startTimeUnixNano", std::to_string(span.start)},
               {"endTimeUnixNano", std::to_string(span.end)},
               {"attributes",
                {text("messaging.system", "kafka"), text("messaging.operation.name", "process"),
                 text("messaging.operation.type", "process"), text("messaging.destination.name", span.topic),
                 text("messaging.destination.partition.id", std::to_string(span.partition)),
                 number("messaging.kafka.offset", span.offset), text("messaging.consumer.group.name", group),
                 number("laneway.attempt", span.attempt), text("laneway.outcome", span.outcome)}}};
  if (span.outcome != "success") {
    json["attributes"].push_back(text("error.type", span.outcome));
    json["status"] = {{"code", status_error}, {"message", span.reason}};
  }
  if (span.parent_id != decltype(span.parent_id){}) json["parentSpanId"] = print_id(span.parent_id);
  return json;
}

constexpr std::size_t longest_collector_answer = 64 * 1024;

/// Takes nothing of what is too long: that ends the request.
std::size_t keep(char* data, std::size_t, std::size_t size, void* answer_pointer) {
  auto& answer = *static_cast<std::string*>(answer_pointer);
  if (size > longest_collector_answer - answer.size()) return 0;
  answer.append(data, size);
  return size;
}

/// The number of `sent` spans that the collector rejected although it accepted the request, according to its
/// partialSuccess.
std::size_t rejected_spans(const std::string& answer, std::size_t sent) try {
  const auto document = parse_outside_json(answer);
  const auto& count = document.at("partialSuccess").at("rejectedSpans");
  const auto rejected = count.is_string() ? std::stoull(count.get<std::string>()) : count.get<std::size_t>();
  return std::min<std::size_t>(rejected, sent);
} catch (const std::exception&) {
  return 0;  // all spans were accepted, or the answer is not OTLP
}

}  // namespace

std::string otlp_json(const SpanTarget& target, const std::vector<Span>& spans) {
  Json list = Json::array();
  for (const auto& span : spans) list.push_back(json_of(span, target.group));
  const Json scope = {{"scope", {{"name", "laneway"}}}, {"spans", std::move(list)}};
  const Json resource = {{"resource", {{"attributes", Json::array({text("service.name", target.service)})}}},
                         {"scopeSpans", Json::array({scope})}};
  // Reasons may contain bytes that are not UTF-8.
  return Json{{"resourceSpans", Json::array({resource})}}.dump(-1, ' ', false,
                                                               Json::error_handler_t::replace);
}

/// One connection, which is kept alive.
class SpanExporter::Request {
 public:
  explicit Request(const SpanTarget& target) : easy_(target.url) {
    add("Content-Type: application/json");
    for (const auto& [name, value] : target.headers) add(name + ": " + value);
    easy_.trust(target.authorities);
    curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(easy_.get(), CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, &keep);
    curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, &answer_);
  }

  /// Returns why the request failed; empty if the collector accepted it.
  std::string post(const std::string& body, Duration limit) {
    easy_.clear_error();
    answer_.clear();
    curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT_MS, curl::timeout_ms(limit));
    curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDS, body.data());
    const CURLcode code = curl_easy_perform(easy_.get());
    const bool cut = code == CURLE_WRITE_ERROR;  // the status says enough
    if (code != CURLE_OK && !cut) return easy_.problem(code, {"trace.otlp", "to trace.ca_file"});
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status / 100 == 2 ? "" : "HTTP " + std::to_string(status);
  }
  const std::string& answer() const { return answer_; }

 private:
  void add(const std::string& header) {
    auto* longer = curl_slist_append(headers_.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    (void)headers_.release();
    headers_.reset(longer);
  }

  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr, curl_slist_free_all};
  std::string answer_;
  curl::EasyHandle easy_;  // last, because it uses the other members
};

SpanExporter::SpanExporter(SpanTarget target) : target_(std::move(target)) {
  if (const auto ready = curl::initialize(); !ready) throw std::runtime_error(ready.error().message);
  request_ = std::make_unique<Request>(target_);
  thread_ = std::thread([this] { run(); });
}

SpanExporter::~SpanExporter() {
  ends_at_.store((SteadyClock::now() + target_.limit).time_since_epoch().count());
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SpanExporter::add(Span span) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= most_waiting) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    waiting_.push_back(std::move(span));
    if (waiting_.size() != most_in_request) return;  // the thread checks the queue by itself soon enough
  }
  changed_.notify_one();
}

SpanExporter::Counts SpanExporter::counts() const {
  return {exported_.load(std::memory_order_relaxed), dropped_.load(std::memory_order_relaxed),
          failed_.load(std::memory_order_relaxed)};
}

/// The time for a request that begins now.
Duration SpanExporter::time_left() const {
  const auto at = ends_at_.load(std::memory_order_relaxed);
  if (at == 0) return target_.limit;
  return std::min(target_.limit, Duration(at) - SteadyClock::now().time_since_epoch());
}

/// Waits until a request is full, or until spans have waited long enough; returns no spans at the end.
std::vector<Span> SpanExporter::next() {
  MutexLock lock(mutex_);
  for (;;) {
    const auto at = SteadyClock::now() + linger;
    while (!ended_ && waiting_.size() < most_in_request && SteadyClock::now() < at)
      changed_.wait_until(mutex_, at);
    if (waiting_.empty() && !ended_) continue;
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), most_in_request));
    std::vector<Span> spans(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return spans;
  }
}

void SpanExporter::run() {
  ::pthread_setname_np(::pthread_self(), "spans");
  auto tell_again = SteadyClock::now();
  for (auto spans = next(); !spans.empty(); spans = next()) {
    send(spans);
    if (SteadyClock::now() >= tell_again && tell_dropped()) tell_again = SteadyClock::now() + between_lines;
  }
  tell_dropped();
}

/// Returns why spans were not accepted; empty if the collector accepted all of them.
std::string SpanExporter::post(const std::vector<Span>& spans, std::size_t& lost) try {
  lost = spans.size();
  const auto limit = time_left();
  if (limit <= Duration::zero()) return "the service ended first";
  auto why = request_->post(otlp_json(target_, spans), limit);
  if (!why.empty()) return why;
  lost = rejected_spans(request_->answer(), spans.size());
  return lost == 0 ? ""
                   : "the collector rejected " + std::to_string(lost) + " of " + std::to_string(spans.size());
} catch (const std::exception& e) {
  return e.what();
}

void SpanExporter::send(const std::vector<Span>& spans) {
  std::size_t lost = 0;
  const auto why = post(spans, lost);
  exported_.fetch_add(spans.size() - lost, std::memory_order_relaxed);
  failed_.fetch_add(lost, std::memory_order_relaxed);
  if (why.empty() == !failing_) return;
  failing_ = !why.empty();
  const auto server = curl::server_of(target_.url, "trace.otlp");
  const auto where = server ? *server : std::string();
  // A collector may be available and unavailable in turns.
  if (failing_)
    telemetry::log_repeating(telemetry::Level::warn, "spans not accepted", "spans not accepted",
                             {{"collector", where}, {"error", why}});
  else
    telemetry::log_repeating(telemetry::Level::info, "spans accepted again", "spans accepted again",
                             {{"collector", where}});
}

/// Returns false if no span was dropped since the last time.
bool SpanExporter::tell_dropped() {
  const auto dropped = dropped_.load(std::memory_order_relaxed);
  if (dropped == told_) return false;
  telemetry::warn("spans dropped",
                  {{"count", dropped - told_}, {"error", "the queue of spans for the collector is full"}});
  told_ = dropped;
  return true;
}

}  // namespace laneway::tracing
