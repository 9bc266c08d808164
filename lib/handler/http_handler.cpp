#include "handler/http_handler.h"

#include <curl/curl.h>

#include <system_error>
#include <utility>

namespace laneway::handler {
namespace {

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
  try {
    return std::unique_ptr<Handler>(new HttpHandler(settings, std::move(server).value()));
  } catch (const std::system_error& e) {
    return Error{ErrorKind::internal, std::string("handler.http cannot start: ") + e.what(),
                 "look at the limits on open files and tasks of this process"};
  }
}

HttpHandler::HttpHandler(const config::HttpHandler& settings, std::string server)
    : timeout_(settings.timeout + (settings.batch.records > 0 ? settings.batch.linger : Duration::zero())),
      sender_(settings, std::move(server)),
      thread_([this] { run(); }) {}

HttpHandler::~HttpHandler() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  sender_.wake();
  thread_.join();
}

void HttpHandler::handle(Task task) noexcept {
  {
    MutexLock lock(mutex_);
    handed_over_.push_back(std::move(task));
    // Somebody else wakes the thread, or it is the thread: it looks before it waits.
    if (handed_over_.size() > 1 || serving_ == std::this_thread::get_id()) return;
  }
  sender_.wake();
}

void HttpHandler::run() {
  {
    MutexLock lock(mutex_);
    serving_ = std::this_thread::get_id();
  }
  while (take_over()) sender_.serve();
}

bool HttpHandler::take_over() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    taken_over_.swap(handed_over_);
    if (cluster_) sender_.set_cluster(*std::exchange(cluster_, std::nullopt));
  }
  for (Task& task : taken_over_) sender_.add(std::move(task));
  taken_over_.clear();
  return true;
}

}  // namespace laneway::handler
