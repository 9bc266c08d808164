#include "handler/subscribers/webhook_signature.h"

#include "catch.h"
#include "config/handlers/subscribers.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

TEST_CASE("a signature equals that of the reference libraries") {
  // From the tests of the libraries of standard-webhooks.
  const auto secret = config::parse_webhook_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  REQUIRE(secret.ok());
  const std::string body = R"({"test": 2432232314})";
  const std::string expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  const auto* id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  CHECK(webhook_signature({*secret}, id, 1614265330, body) == expected);
  const auto two = webhook_signature({std::string(24, 'x'), *secret}, id, 1614265330, body);
  CHECK(two.starts_with("v1,"));
  CHECK(two.ends_with(" " + expected));
  CHECK(webhook_signature({}, id, 1614265330, body).empty());
}

TEST_CASE("the id of a webhook has no dots, which separate the signed parts") {
  auto data = record_data(42, "v");
  data.topic = "orders.v1";
  const kafka::Record record(data);
  StopState running;
  const StopToken stop{&running, 1};
  CHECK(webhook_id({record, 1, stop, nullptr, nullptr, "c", "billing.eu"}) ==
        "c/orders%2Ev1/3/42/billing%2Eeu");
}
