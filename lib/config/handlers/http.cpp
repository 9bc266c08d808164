#include "config/handlers/http.h"

#include <algorithm>
#include <optional>

#include "config/checks/checks.h"
#include "config/checks/connection_rules.h"
#include "config/checks/rule_context.h"
#include "config/handlers/http_statuses.h"
#include "config/property.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

Property http_url_property() {
  auto property = url_property(
      "handler.http.url", handler_at_start, "a URL that starts with http:// or https://",
      "The web service that receives the records, by POST.", in_handler(&HttpSettings::url), check_url);
  property.example = "\"http://127.0.0.1:8080/orders\"";
  property.print = [print = property.print](const Config& config) {
    return std::get<HttpSettings>(config.handler).url.empty() ? std::string() : print(config);
  };
  return property;
}

Property headers_property() {
  return list_property(
      "handler.http.headers", handler_at_start, "a list of header names that HTTP allows",
      "Names of record headers that are passed on as request headers.", in_handler(&HttpSettings::headers),
      [](const std::string& name) -> Result<std::string> {
        auto what = check_header(name);
        if (!what.empty()) return wrong_value(std::move(what));
        return name;
      },
      yaml_scalar, [](const auto&) { return std::string(); });
}

std::vector<Property> http_properties() {
  std::vector<Property> table;
  table.push_back(http_url_property());
  table.push_back(text("handler.http.subscribers", handler_at_start, "the path of a file",
                       "File with subscribers, instead of url: each sub-job goes to the subscriber that its "
                       "id names, and is signed. docs/webhooks.md describes the file.",
                       in_handler(&HttpSettings::subscribers),
                       [](const std::string&) { return std::string(); }));
  table.push_back(flag("handler.http.private_addresses", handler_at_start,
                       "Allows subscribers with addresses of private networks and of this machine. Without "
                       "it, a subscriber cannot make laneway call services that only laneway can reach.",
                       in_handler(&HttpSettings::private_addresses)));
  table.push_back(duration("handler.http.timeout", handler_at_start, milliseconds(1), hours(1),
                           "Time limit of one attempt.", in_handler(&HttpSettings::timeout)));
  table.push_back(text("handler.http.content_type", handler_at_start, "a media type",
                       "The Content-Type of the requests. Batches have a Content-Type of their own.",
                       in_handler(&HttpSettings::content_type), check_content_type));
  table.push_back(headers_property());
  table.push_back(duration(
      "handler.http.max_retry_after", handler_at_start, Duration::zero(), hours(1),
      "The longest Retry-After that laneway waits for. A longer Retry-After is shortened to this value.",
      in_handler(&HttpSettings::max_retry_after)));
  table.push_back(statuses_property());
  table.push_back(file_property(
      "handler.http.authorization_file", handler_at_start,
      "File with the value of the header Authorization of the requests, such as Bearer and a token.",
      in_handler(&HttpSettings::authorization_file), in_handler(&HttpSettings::authorization),
      read_header_value));
  table.push_back(file_property("handler.http.ca_file", handler_at_start,
                                "File with the CA certificates (PEM) that verify an https:// web service. "
                                "They replace those of the system.",
                                in_handler(&HttpSettings::ca_file), in_handler(&HttpSettings::ca),
                                read_certificates));
  table.push_back(count("handler.http.connections", handler_at_start, 1, 65536,
                        "Maximum number of requests to the web service at the same time.",
                        in_handler(&HttpSettings::connections)));
  table.push_back(
      count("handler.http.batch.records", handler_at_start, 0, 10000,
            "Maximum number of records in one request. 0 sends each record's value as a request of its own. "
            "Above 0 a request has a list of records, and its answer may have a list of verdicts.",
            in_handler(&HttpSettings::batch, &HttpSettings::Batch::records)));
  table.push_back(duration("handler.http.batch.linger", handler_at_start, Duration::zero(), seconds(60),
                           "How long the first record of a request waits for other records.",
                           in_handler(&HttpSettings::batch, &HttpSettings::Batch::linger)));
  table.push_back(size("handler.http.batch.bytes", handler_at_start, 1, 1ULL << 30,
                       "A request that has reached this size takes no more records.",
                       in_handler(&HttpSettings::batch, &HttpSettings::Batch::bytes)));
  table.push_back(choice<BatchFormat>(
      "handler.http.batch.format", handler_at_start,
      {{"json", BatchFormat::json}, {"ndjson", BatchFormat::ndjson}},
      "The body of a request with several records: one JSON array, or one line per record.",
      in_handler(&HttpSettings::batch, &HttpSettings::Batch::format)));
  return table;
}

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

void check_http(RuleContext& rules) {
  const auto& http = std::get<HttpSettings>(rules.config().handler);
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

std::vector<std::string> warnings_about_http(const Config& config) {
  const auto& http = std::get<HttpSettings>(config.handler);
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
  return {
      .name = "http",
      .properties = http_properties,
      .check = check_http,
      .warnings = warnings_about_http,
      .traits = {.occupies = Occupies::nothing, .gives_results = true, .output = nullptr, .program = nullptr},
      .section = {.position = 1,
                  .text = "A POST to a web service, for each record or for several records. The answers and "
                          "the headers: [writing handlers](writing-handlers.md).",
                  .example =
                      "handler:\n  http: { url: \"http://127.0.0.1:8080/orders\", timeout: 10s, batch: { "
                      "records: 50 } }\n"}};
}

}  // namespace laneway::config
