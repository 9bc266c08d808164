#include "handler/http/http_subscribers.h"

#include <ctime>
#include <utility>

#include "curl/url.h"
#include "handler/subscribers/webhook_signature.h"
#include "telemetry/log.h"

namespace laneway::handler {

Result<std::unique_ptr<HttpSubscribers>> HttpSubscribers::open(const std::string& path) {
  auto file = SubscriberFile::open(path);
  if (!file) return file.error();
  return std::make_unique<HttpSubscribers>(std::move(file).value());
}

std::optional<Outcome> HttpSubscribers::address(const Attempt& attempt,
                                                const std::vector<std::string>& passed_on, HttpTarget& target,
                                                RequestHeaders& headers) {
  if (attempt.part.empty())
    return Outcome::reject("the record names no subscriber: it is no sub-job of handler.fan_out");
  const auto found = file_->find(attempt.part);
  const auto& subscriber = found.subscriber;
  if (!subscriber || !subscriber->enabled) return not_sent(attempt, found);
  target.url = subscriber->url;
  const auto server = curl::server_of(subscriber->url, "url");
  target.server = subscriber->name + (server ? " (" + server.value() + ")" : "");
  const auto id = webhook_id(attempt);
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  headers.add(webhook_id_header, id);
  headers.add(webhook_timestamp_header, std::to_string(now));
  const auto body = attempt.record.value().value_or("");
  if (!subscriber->secrets.empty())
    headers.add(webhook_signature_header, webhook_signature(subscriber->secrets, id, now, body));
  add_passed_on_headers(attempt, passed_on, headers);
  return std::nullopt;
}

/// A name that is gone may be a mistake, or this machine's file may be older than another's. While the file
/// has a mistake nobody knows whether the subscriber is still disabled.
Outcome HttpSubscribers::not_sent(const Attempt& attempt, const SubscriberFile::Found& found) const {
  const std::string name(attempt.part);
  if (found.problem)
    return Outcome::unavailable("the subscriber " + name + (found.subscriber ? " is disabled" : " is not") +
                                " in the last right version of the file: " + *found.problem);
  if (!found.subscriber) return Outcome::reject("the subscriber " + name + " is not in " + file_->path());
  telemetry::log_repeating(telemetry::Level::info, "subscriber disabled " + name,
                           "event not sent: its subscriber is disabled",
                           {{"subscriber", name}, {"event", webhook_id(attempt)}});
  return Outcome::done();
}

}  // namespace laneway::handler
