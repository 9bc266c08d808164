#include "handler/span_exporter.h"

#include <curl/curl.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "handler/http_endpoint.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_waiting = 4096;
constexpr std::size_t most_in_request = 512;
constexpr Duration linger = milliseconds(500);
constexpr long request_ms = 2000;
constexpr Duration last_requests = seconds(1);
constexpr int consumer_kind = 5;  // SPAN_KIND_CONSUMER
constexpr int status_ok = 1;
constexpr int status_error = 2;

Json text(const char* key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

/// 64-bit numbers are strings in OTLP's JSON.
Json number(const char* key, std::int64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

Json json_of(const Span& span, const std::string& group) {
  const bool done = span.outcome == "success";
  Json json = {{"traceId", span.trace_id},
               {"spanId", span.span_id},
               {"name", "pool.process"},
               {"kind", consumer_kind},
               {"startTimeUnixNano", std::to_string(span.start)},
               {"endTimeUnixNano", std::to_string(span.end)},
               {"attributes",
                {text("messaging.system", "kafka"), text("messaging.operation.type", "process"),
                 text("messaging.destination.name", span.topic),
                 text("messaging.destination.partition.id", std::to_string(span.partition)),
                 number("messaging.kafka.offset", span.offset), text("messaging.consumer.group.name", group),
                 number("laneway.attempt", span.attempt), text("laneway.outcome", span.outcome)}},
               {"status", {{"code", done ? status_ok : status_error}}}};
  if (!done) json["status"]["message"] = span.reason;
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  return json;
}

std::size_t ignore(char*, std::size_t, std::size_t size, void*) { return size; }

}  // namespace

std::string otlp_json(const SpanTarget& target, const std::vector<Span>& spans) {
  Json list = Json::array();
  for (const auto& span : spans) list.push_back(json_of(span, target.group));
  const Json scope = {{"scope", {{"name", "laneway"}}}, {"spans", std::move(list)}};
  const Json resource = {{"resource", {{"attributes", Json::array({text("service.name", target.service)})}}},
                         {"scopeSpans", Json::array({scope})}};
  // Reasons may hold what is not UTF-8.
  return Json{{"resourceSpans", Json::array({resource})}}.dump(-1, ' ', false,
                                                               Json::error_handler_t::replace);
}

/// One connection, kept.
class SpanExporter::Request {
 public:
  explicit Request(const SpanExporter& owner)
      : easy_(curl_easy_init(), curl_easy_cleanup),
        headers_(curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all) {
    if (!easy_ || !headers_) throw std::runtime_error("libcurl has no memory");
    auto* easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_URL, owner.target_.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "laneway");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request_ms);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_.data());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &ignore);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &owner);
    curl_easy_setopt(
        easy, CURLOPT_XFERINFOFUNCTION,
        +[](void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) -> int {
          return static_cast<const SpanExporter*>(self)->cut_off() ? 1 : 0;
        });
  }

  /// Why it failed; empty when the collector has it.
  std::string post(const std::string& body) {
    auto* easy = easy_.get();
    error_[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
    const CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK) return error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status / 100 == 2 ? "" : "HTTP " + std::to_string(status);
  }

 private:
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_;
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

SpanExporter::SpanExporter(SpanTarget target) : target_(std::move(target)) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw std::runtime_error(curl_easy_strerror(ready));
  thread_ = std::thread([this] { run(); });
}

SpanExporter::~SpanExporter() {
  ends_at_.store((SteadyClock::now() + last_requests).time_since_epoch().count());
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
    if (waiting_.size() != most_in_request) return;  // it looks by itself soon enough
  }
  changed_.notify_one();
}

SpanExporter::Counts SpanExporter::counts() const {
  return {exported_.load(std::memory_order_relaxed), dropped_.load(std::memory_order_relaxed),
          failed_.load(std::memory_order_relaxed)};
}

bool SpanExporter::cut_off() const {
  const auto at = ends_at_.load(std::memory_order_relaxed);
  return at != 0 && SteadyClock::now().time_since_epoch().count() > at;
}

/// Waits for a request's worth, or for as long as spans may wait; nothing at the end.
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
  Request request(*this);
  for (auto spans = next(); !spans.empty(); spans = next()) send(request, spans);
}

void SpanExporter::send(Request& request, const std::vector<Span>& spans) {
  const auto why = cut_off() ? "there was no more time" : request.post(otlp_json(target_, spans));
  (why.empty() ? exported_ : failed_).fetch_add(spans.size(), std::memory_order_relaxed);
  if (why.empty() == !failing_) return;
  failing_ = !why.empty();
  const auto server = server_of(target_.url);
  const auto where = server ? *server : std::string();
  if (failing_)
    telemetry::warn("spans not taken", {{"collector", where}, {"error", why}});
  else
    telemetry::info("spans taken again", {{"collector", where}});
}

}  // namespace laneway::handler
