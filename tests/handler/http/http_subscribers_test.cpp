#include "handler/http/http_subscribers.h"

#include "captured_log.h"
#include "config/handlers/subscribers.h"
#include "handler/http/http.h"
#include "handler/subscribers/subscribers.h"
#include "handler/subscribers/webhook_signature.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

const std::string webhook_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

config::HttpSettings to_subscribers(const std::string& path, bool private_addresses = true) {
  auto settings = settings_for("");
  settings.subscribers = path;
  settings.private_addresses = private_addresses;
  return settings;
}

std::string entry(const std::string& name, const std::string& url, const std::string& more = "") {
  return "- { name: " + name + ", url: \"" + url + "\"" + more + " }\n";
}

/// The outcome of a sub-job with this id.
Outcome sent_to(Handler& handler, const std::string& part) {
  Run run(one(record_data(7, "the event", "k")));
  if (!part.empty()) run.is_part(part);
  return outcome_of(handler, run);
}

}  // namespace

TEST_CASE("a sub-job goes to the subscriber that it names, signed for that subscriber") {
  HttpServer billing([](const auto&, auto&) {});
  HttpServer audit([](const auto&, auto&) {});
  const SubscriberFolder folder;
  const auto path = folder.write(
      "s.yaml", entry("billing", billing.url(), ", secret: " + webhook_secret) + entry("audit", audit.url()));
  const auto handler = made(to_subscribers(path));
  CHECK(handler->downstream() == "the subscribers in " + path);
  CHECK(sent_to(*handler, "billing").verdict == Verdict::done);
  CHECK(sent_to(*handler, "audit").verdict == Verdict::done);
  REQUIRE(billing.requests().size() == 1);
  REQUIRE(audit.requests().size() == 1);
  const auto signed_one = billing.requests().front();
  CHECK(signed_one.body == "the event");
  const auto id = signed_one.get_header_value("webhook-id");
  CHECK(id == "c-1/orders/3/7/billing");
  const auto timestamp = std::stoll(signed_one.get_header_value("webhook-timestamp"));
  CHECK(std::abs(timestamp - static_cast<long long>(std::time(nullptr))) < 300);
  const auto key = config::parse_webhook_secret(webhook_secret);
  CHECK(signed_one.get_header_value("webhook-signature") ==
        webhook_signature({*key}, id, timestamp, "the event"));
  CHECK_FALSE(audit.requests().front().has_header("webhook-signature"));
  CHECK(audit.requests().front().get_header_value("webhook-id") == "c-1/orders/3/7/audit");
  CHECK_FALSE(signed_one.has_header("Kafka-Topic"));
  CHECK_FALSE(signed_one.has_header("Kafka-Key"));
}

TEST_CASE("a subscriber's answer is judged as usual, and names the subscriber") {
  HttpServer broken([](const auto&, auto& response) { response.status = 500; });
  const SubscriberFolder folder;
  const auto handler = made(to_subscribers(folder.write("s.yaml", entry("a", broken.url()))));
  const auto outcome = sent_to(*handler, "a");
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason.starts_with("HTTP 500 from a (127.0.0.1:"));
}

TEST_CASE("a sub-job of a disabled subscriber is done, and that of an unknown subscriber is rejected") {
  const CapturedLog log;
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", entry("off", "http://127.0.0.1:1/", ", enabled: false"));
  const auto handler = made(to_subscribers(path));
  CHECK(sent_to(*handler, "off").verdict == Verdict::done);
  CHECK(log.lines({"its subscriber is disabled", "subscriber=off"}) == 1);
  const auto unknown = sent_to(*handler, "gone");
  CHECK(unknown.verdict == Verdict::reject);
  CHECK(unknown.reason == "the subscriber gone is not in " + path);
  CHECK(sent_to(*handler, "").verdict == Verdict::reject);
  folder.write("s.yaml", "- { name: gone }\n");
  const auto not_known_yet = sent_to(*handler, "gone");
  CHECK(not_known_yet.verdict == Verdict::unavailable);
  CHECK(not_known_yet.reason.find("s.yaml:1: the subscriber gone has no url") != std::string::npos);
}

TEST_CASE("a newly enabled subscriber gets its events, which wait while the file has a mistake") {
  HttpServer server([](const auto&, auto&) {});
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", entry("a", server.url(), ", enabled: false"));
  const auto handler = made(to_subscribers(path));
  CHECK(sent_to(*handler, "a").verdict == Verdict::done);
  CHECK(server.requests().empty());
  folder.write("s.yaml", "");
  const auto waits = sent_to(*handler, "a");
  CHECK(waits.verdict == Verdict::unavailable);
  CHECK(waits.reason.starts_with("the subscriber a is disabled in the last right version of the file: "));
  folder.write("s.yaml", entry("a", server.url()));
  CHECK(sent_to(*handler, "a").verdict == Verdict::done);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a subscriber cannot make laneway call this machine, unless the settings allow that") {
  HttpServer inside([](const auto&, auto&) {});
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", entry("a", inside.url()));
  const auto handler = made(to_subscribers(path, false));
  const auto outcome = sent_to(*handler, "a");
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason.find("its address is not public") != std::string::npos);
  CHECK(inside.requests().empty());
}
