#include "handler/http/http_handler.h"

#include <curl/curl.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/shortage.h"
#include "config/handlers/subscribers.h"
#include "curl/easy_handle.h"
#include "curl/url.h"
#include "handler/http/http_endpoint.h"

namespace laneway::handler {
namespace {

constexpr std::uint32_t most_loops = 4;
constexpr std::uint32_t loads_apart = 8;       // tasks
constexpr std::uint32_t most_connecting = 32;  // of all loops

/// The share number `index` of `whole` in `parts`, as equal as possible.
std::uint32_t share(std::uint32_t whole, std::uint32_t parts, std::uint32_t index) {
  return whole / parts + (index < whole % parts ? 1 : 0);
}

Result<std::string> server_or_subscribers(const config::HttpSettings& settings) {
  if (settings.subscribers.empty()) return curl::server_of(settings.url, http_connection_keys.url);
  const auto subscribers = config::read_subscribers(settings.subscribers);
  if (!subscribers) return subscribers.error();
  return "the subscribers in " + settings.subscribers;
}

Error refused(std::string key, std::string message, std::string hint) {
  return {ErrorKind::configuration, "handler.http." + std::move(key) + ": " + std::move(message),
          std::move(hint)};
}

}  // namespace

Result<std::string> HttpHandler::check(const config::HttpSettings& settings) {
  auto server = server_or_subscribers(settings);
  if (!server) return server.error();
  if (settings.timeout < milliseconds(1))
    return refused("timeout", "less than 1ms", "give a time such as 10s");
  if (settings.content_type.empty() ||
      without_control_characters(settings.content_type) != settings.content_type)
    return refused("content_type", "not a media type", "give one such as application/json");
  for (const std::string& name : settings.headers)
    if (!may_be_passed_on(name))
      return refused(
          "headers", without_control_characters(name) + " cannot be passed on",
          "name record headers that are HTTP tokens and that neither HTTP nor laneway sets itself");
  return server;
}

Result<std::string> HttpHandler::reach(const config::HttpSettings& settings, Duration timeout) {
  if (!settings.subscribers.empty()) {
    const auto subscribers = config::read_subscribers(settings.subscribers);
    if (!subscribers) return subscribers.error();
    return settings.subscribers + " lists " + std::to_string(subscribers->size()) +
           " subscribers, which are not contacted";
  }
  const auto server = curl::server_of(settings.url, http_connection_keys.url);
  if (!server) return server.error();
  curl::EasyHandle easy(settings.url);
  easy.trust(settings.ca);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, curl::timeout_ms(timeout));
  const CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_OK) return *server + " accepts connections";
  const bool refused = code == CURLE_PEER_FAILED_VERIFICATION;  // the message then says what to do
  return Error{
      ErrorKind::unavailable,
      "handler.http.url: cannot connect to " + *server + ": " + easy.problem(code, http_connection_keys),
      refused ? "" : "start the web service, or correct the URL"};
}

Result<std::unique_ptr<Handler>> HttpHandler::make(const config::HttpSettings& settings, bool passes_on) {
  if (const auto ready = curl::initialize(); !ready) return ready.error();
  const auto server = check(settings);
  if (!server) return server.error();
  std::unique_ptr<HttpSubscribers> subscribers;
  if (!settings.subscribers.empty()) {
    auto opened = HttpSubscribers::open(settings.subscribers);
    if (!opened) return opened.error();
    subscribers = std::move(opened).value();
  }
  try {
    return std::unique_ptr<Handler>(
        new HttpHandler(settings, server.value(), passes_on, std::move(subscribers)));
  } catch (const std::system_error& e) {
    if (const auto lacks = shortage_of(e.code().value()))
      return Error{ErrorKind::exhausted, "handler.http cannot start: " + *lacks, ""};
    return Error{ErrorKind::internal, std::string("handler.http cannot start: ") + e.what(), ""};
  }
}

std::uint32_t HttpHandler::threads(const config::HttpSettings& settings) {
  if (settings.batch.records > 0) return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1U, std::min(most_loops, settings.connections));
}

HttpHandler::HttpHandler(const config::HttpSettings& settings, const std::string& server, bool passes_on,
                         std::unique_ptr<HttpSubscribers> subscribers)
    : server_(server),
      subscribers_(std::move(subscribers)),
      // A record of a batch may be sent twice (see http_sender.h).
      timeout_(settings.batch.records > 0 ? 2 * settings.timeout + settings.batch.linger : settings.timeout) {
  const std::uint32_t loops = threads(settings);
  for (std::uint32_t i = 0; i < loops; ++i) {
    const HttpLimits limits{share(settings.connections, loops, i), share(most_connecting, loops, i)};
    loops_.push_back(
        std::make_unique<HttpLoop>(settings, HttpPlace{server, passes_on, subscribers_.get()}, limits));
  }
}

/// All threads must end before the first loop is destroyed, because each may still give tasks to any loop.
HttpHandler::~HttpHandler() {
  for (const auto& loop : loops_) loop->stop();
}

void HttpHandler::handle(Task task) noexcept {
  HttpLoop* least = nullptr;
  HttpLoop* here = nullptr;
  for (const auto& loop : loops_) {
    if (least == nullptr || loop->load() < least->load()) least = loop.get();
    if (loop->is_here()) here = loop.get();
  }
  const bool stays = here != nullptr && here->has_room() && here->load() <= least->load() + loads_apart;
  (stays ? here : least)->hand_over(std::move(task));
}

}  // namespace laneway::handler
