#include "config/handlers/handler_schema.h"

#include <algorithm>
#include <optional>

#include "config/checks/checks.h"
#include "config/checks/connection_rules.h"
#include "config/checks/rule_context.h"
#include "config/property.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr std::uint16_t classes = 5;

const Words<StatusVerdict>& verdicts() {
  static const Words<StatusVerdict> words = {{"done", StatusVerdict::done},
                                             {"retry", StatusVerdict::retry},
                                             {"reject", StatusVerdict::reject},
                                             {"unavailable", StatusVerdict::unavailable}};
  return words;
}

std::string name_of_status(std::uint16_t status) {
  return std::to_string(status) + (status <= classes ? "xx" : "");
}

/// Nullopt if `text` is not written as it is printed, so that no status can be set twice.
std::optional<std::uint16_t> status_or_class(const std::string& text) {
  const bool is_class = text.size() == 3 && text.ends_with("xx");
  const auto number = is_class ? parse_number<std::uint16_t>(text.substr(0, 1), 1, classes)
                               : parse_number<std::uint16_t>(text, 100, 599);
  if (!number || name_of_status(*number) != text) return std::nullopt;
  return *number;
}

/// The status or class that the user probably means by a wrong key; nullopt if none is near.
std::optional<std::uint16_t> nearest_status(std::string_view text) {
  const auto begin = text.find_first_not_of(" 0");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string trimmed(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
  if (auto status = status_or_class(trimmed)) return status;
  if (trimmed.size() > 1 && trimmed.find_first_of("xX*") != std::string::npos)
    return status_or_class(trimmed.substr(0, 1) + "xx");
  return std::nullopt;
}

std::string what_is_wrong_with(const std::string& key) {
  const auto near = nearest_status(key);
  return "a key must be a status from 100 to 599, or a class from 1xx to 5xx" +
         (near ? "; did you mean \"" + name_of_status(*near) + "\"?" : std::string());
}

std::optional<BadValue> set_status(StatusVerdicts& statuses, const Entry& entry) {
  const auto status = status_or_class(entry.key);
  if (!status) return BadValue{key_node(entry), what_is_wrong_with(entry.key)};
  const auto verdict = entry.value.is_scalar() ? value_of(verdicts(), entry.value.text) : std::nullopt;
  if (!verdict)
    return BadValue{entry.value, "the verdict on " + name_of_status(*status) +
                                     " must be one of done, retry, reject, unavailable"};
  statuses[*status] = *verdict;
  return std::nullopt;
}

std::string print_status(std::uint16_t status, StatusVerdict verdict) {
  return yaml_scalar(name_of_status(status)) + ": " + word_of(verdicts(), verdict);
}

Rows request_rows() {
  return rows_of<HttpSettings>({
      {"handler.http.url", no_value_if_empty(url("a URL that starts with http:// or https://", check_url)),
       &HttpSettings::url, "The web service that receives the records, by POST.",
       "\"http://127.0.0.1:8080/orders\""},
      {"handler.http.subscribers", text("the path of a file"), &HttpSettings::subscribers,
       "File with subscribers, instead of url: each sub-job goes to the subscriber that its id names, and is "
       "signed. docs/webhooks.md describes the file."},
      {"handler.http.private_addresses", flag(), &HttpSettings::private_addresses,
       "Allows subscribers with addresses of private networks and of this machine. Without it, a subscriber "
       "cannot make laneway call services that only laneway can reach."},
      {"handler.http.timeout", duration(milliseconds(1), hours(1)), &HttpSettings::timeout,
       "Time limit of one attempt."},
      {"handler.http.content_type", text("a media type", check_content_type), &HttpSettings::content_type,
       "The Content-Type of the requests. Batches have a Content-Type of their own."},
      {"handler.http.headers", list("a list of header names that HTTP allows", checked(check_header)),
       &HttpSettings::headers, "Names of record headers that are passed on as request headers."},
      {"handler.http.max_retry_after", duration(Duration::zero(), hours(1)), &HttpSettings::max_retry_after,
       "The longest Retry-After that laneway waits for. A longer Retry-After is shortened to this value."},
      {"handler.http.statuses",
       map("a map of statuses (100 to 599) or classes of them (1xx to 5xx) to done, retry, reject or "
           "unavailable, such as { \"404\": reject, \"409\": done, \"5xx\": retry }",
           set_status, print_status),
       &HttpSettings::statuses,
       "What statuses mean, instead of the usual verdicts. A status overrides its class. A 2xx status can "
       "also have another verdict than done, such as \"202\": retry for work that is not done yet."},
      {"handler.http.authorization_file", file(read_header_value),
       both(&HttpSettings::authorization_file, &HttpSettings::authorization),
       "File with the value of the header Authorization of the requests, such as Bearer and a token."},
      {"handler.http.ca_file", file(read_certificates), both(&HttpSettings::ca_file, &HttpSettings::ca),
       "File with the CA certificates (PEM) that verify an https:// web service. They replace those of the "
       "system."},
      {"handler.http.connections", count(1, 65536), &HttpSettings::connections,
       "Maximum number of requests to the web service at the same time."},
  });
}

Rows batch_rows() {
  return rows_of<HttpSettings>({
      {"handler.http.batch.records", count(0, 10000), IN(batch.records),
       "Maximum number of records in one request. 0 sends each record's value as a request of its own. Above "
       "0 a request has a list of records, and its answer may have a list of verdicts."},
      {"handler.http.batch.linger", duration(Duration::zero(), seconds(60)), IN(batch.linger),
       "How long the first record of a request waits for other records."},
      {"handler.http.batch.bytes", size(1, 1ULL << 30), IN(batch.bytes),
       "A request that has reached this size takes no more records."},
      {"handler.http.batch.format",
       choice<BatchFormat>({{"json", BatchFormat::json}, {"ndjson", BatchFormat::ndjson}}), IN(batch.format),
       "The body of a request with several records: one JSON array, or one line per record."},
  });
}

Rows http_properties() { return joined({request_rows(), batch_rows()}); }

/// Subscribers have nothing in common: what one service is meant to get must not go to all of them.
void check_subscribers(const HttpSettings& http, RuleContext& rules) {
  const std::string key = "handler.http.subscribers";
  if (!http.url.empty())
    rules.refuse({key, "handler.http.url"}, "handler.http.url is set too", "remove one of the two");
  if (http.batch.records > 0)
    rules.refuse({"handler.http.batch.records", key}, "subscribers get one event in a request",
                 "remove handler.http.batch");
  if (!http.authorization.empty())
    rules.refuse({"handler.http.authorization_file", key}, "every subscriber would get these credentials",
                 "give each subscriber a secret in the file of subscribers");
}

void check_http(const HandlerSettings& handler, RuleContext& rules) {
  const auto& http = std::get<HttpSettings>(handler);
  if (!http.subscribers.empty()) return check_subscribers(http, rules);
  if (http.url.empty())
    rules.require_of_handler("handler.http.url",
                             "the URL that receives the records, such as http://127.0.0.1:8080/orders");
  if (http.authorization.empty()) return;
  // The request would have the header twice, and the web service could use either.
  const std::string key = "handler.http.authorization_file";
  if (std::any_of(http.headers.begin(), http.headers.end(),
                  [](const auto& name) { return lower(name) == "authorization"; }))
    rules.refuse({key}, "handler.http.headers also passes on the header Authorization of the records",
                 "remove one of the two");
  if (has_login(http.url))
    rules.refuse({key}, "the user in handler.http.url is sent in the same header Authorization",
                 "remove one of the two");
}

std::vector<std::string> warnings_about_http(const HandlerSettings& handler, const Config&) {
  const auto& http = std::get<HttpSettings>(handler);
  if (!lower(http.url).starts_with("http://") || is_loopback(http.url)) return {};
  const bool in_url = has_login(http.url);
  if (http.authorization_file.empty() && !in_url) return {};
  return {std::string(in_url ? "the user and password in handler.http.url travel"
                             : "the credentials of handler.http.authorization_file travel") +
          " unencrypted to a web service on another machine, with the records (use an https:// address, or "
          "set allow_insecure: true if this is intended)"};
}

}  // namespace

HandlerSchema schema_of(const HttpSettings&) {
  return {.name = "http",
          .properties = http_properties,
          .check = check_http,
          .warnings = warnings_about_http,
          .traits = {.occupies = Occupies::nothing,
                     .gives_results = true,
                     .does_work = true,
                     .output = nullptr,
                     .program = nullptr},
          .section = {
              .position = 1,
              .text = "A POST to a web service, for each record or for several records. The answers and "
                      "the headers: [writing handlers](writing-handlers.md).",
              .example = "handler:\n  http: { url: \"http://127.0.0.1:8080/orders\", timeout: 10s, batch: { "
                         "records: 50 } }\n"}};
}

}  // namespace laneway::config
