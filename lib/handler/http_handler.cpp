#include "handler/http_handler.h"

#include <curl/curl.h>

#include <algorithm>

namespace laneway::handler {
namespace {

constexpr std::size_t most_idle = 256;  // connections kept without work

Error refused(std::string key, std::string message, std::string hint) {
  return {ErrorKind::configuration, "handler.http." + std::move(key) + ": " + std::move(message),
          std::move(hint)};
}

}  // namespace

Result<std::unique_ptr<Handler>> HttpHandler::make(const config::HttpHandler& settings) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    return Error{ErrorKind::internal, std::string("libcurl: ") + curl_easy_strerror(ready), ""};
  auto server = server_of(settings.url);
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
  return std::unique_ptr<Handler>(new HttpHandler(settings, std::move(server).value()));
}

HttpHandler::HttpHandler(const config::HttpHandler& settings, std::string server)
    : endpoint_{settings.url, std::move(server), settings.content_type, settings.timeout},
      passed_on_(settings.headers),
      max_retry_after_(settings.max_retry_after) {}

Outcome HttpHandler::handle_record(const Attempt& attempt) {
  const auto headers = request_headers(attempt.record, attempt.number, passed_on_);
  auto client = borrow();
  const auto answer = client->post(attempt.record.value().value_or(""), headers, attempt.stop);
  give_back(std::move(client));
  return verdict_of(answer, endpoint_.server, max_retry_after_);
}

std::unique_ptr<HttpClient> HttpHandler::borrow() {
  {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      auto client = std::move(idle_.back());
      idle_.pop_back();
      return client;
    }
  }
  return std::make_unique<HttpClient>(endpoint_);
}

void HttpHandler::give_back(std::unique_ptr<HttpClient> client) {
  MutexLock lock(mutex_);
  if (idle_.size() < most_idle) idle_.push_back(std::move(client));
}

}  // namespace laneway::handler
