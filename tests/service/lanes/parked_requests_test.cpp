// Orders about parked records: which ones are taken, and how the status describes them.
#include "service/lanes/parked_requests.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using Action = ControlRequest::Action;
using Kind = ControlAnswer::Kind;

namespace {

constexpr std::int64_t orders_seen_ms = 1767362400000;  // 2026-01-02 14:00:00 UTC

class NoWork final : public handler::RecordHandler {
 public:
  std::string name() const override { return "none"; }

 private:
  handler::Outcome handle_record(const handler::Attempt&) override { return handler::Outcome::done(); }
};

/// The pools `fan` and `send`, of which the second one has subscribers.
struct OrderedService {
  OrderedService() {
    config.topics = {"events"};
    config.dead_letter.topic = "{topic}-dlt";
    config.kafka["group.id"] = {"parked", "test", false};
    config::PoolSettings fan;
    fan.name = "fan";
    fan.then = "send";
    config::PoolSettings send;
    send.name = "send";
    send.each.by = {config::Selector::Kind::part, ""};
    config.pools = {fan, send};
    auto made = SharedStages::make(config, &work);
    REQUIRE(made.ok());
    stages = std::move(made).value();
    stages.parked_orders().set_longest_delay(std::chrono::minutes(10));
  }
  ControlAnswer order(const ControlRequest& request) { return order_parked({}, &stages, config, request); }
  void park(const std::string& subscriber) {
    const auto now = SteadyClock::now();
    stages.parked_records().add("send", subscriber, now, std::chrono::minutes(10), now);
  }

  NoWork work;
  config::Config config;
  SharedStages stages;
};

ControlRequest give_up_request(std::string pool, std::optional<std::string> subscriber = {}) {
  return {.action = Action::give_up,
          .topic = "",
          .reason = "closed",
          .pool = std::move(pool),
          .subscriber = std::move(subscriber)};
}

const ControlRequest send_on_request{.action = Action::send_on, .topic = ""};

}  // namespace

TEST_CASE_METHOD(OrderedService,
                 "an order answers with the number of records, which are due and not counted any more") {
  park("acme");
  park("acme");
  park("bobs");
  auto answer = order(give_up_request("send", "acme"));
  CHECK(answer.kind == Kind::accepted);
  CHECK_THAT(answer.text, Catch::StartsWith("every record of the subscriber acme of the pool send that was "
                                            "parked before now comes back at once (2 records by the count"));
  CHECK_THAT(answer.text, Catch::EndsWith("ask every instance of the group"));
  CHECK(stages.parked_records().of_pool("send", SteadyClock::now()).empty());
  answer = order(send_on_request);
  CHECK(answer.kind == Kind::accepted);
  CHECK_THAT(answer.text, Catch::Contains("(0 records by the count of this process)"));
}

TEST_CASE_METHOD(OrderedService, "an order that can concern no record is refused, and says why") {
  auto answer = order(give_up_request("sent"));
  CHECK(answer.kind == Kind::not_found);
  CHECK_THAT(answer.text, Catch::Contains("no pool 'sent'; its pools are fan"));
  answer = order(give_up_request("fan"));
  CHECK(answer.kind == Kind::invalid);
  CHECK_THAT(answer.text, Catch::Contains("no record is parked for the pool fan"));
  config.dead_letter.topic = "";
  answer = order(give_up_request("send"));
  CHECK(answer.kind == Kind::refused);
  CHECK_THAT(answer.text, Catch::Contains("dead_letter is not configured, and no record is dropped"));
  config.lanes.park_after = Duration::zero();
  answer = order(send_on_request);
  CHECK(answer.kind == Kind::invalid);
  CHECK_THAT(answer.text, Catch::Contains("parks no records: lanes.park_after is 0s"));
  CHECK(order_parked({}, nullptr, config, send_on_request).kind == Kind::refused);
  CHECK_FALSE(stages.parked_orders().any());
}

TEST_CASE_METHOD(OrderedService, "the status has the orders that stand, in words") {
  CHECK(parked_orders_in_words(stages, orders_seen_ms).empty());
  (void)order(send_on_request);
  (void)order(give_up_request("send", "acme"));
  (void)order(give_up_request("send"));
  const auto lines = parked_orders_in_words(stages, orders_seen_ms);
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Catch::StartsWith("records that were parked before 1"));
  CHECK_THAT(lines[0], Catch::EndsWith("Z come back at once"));
  CHECK_THAT(lines[1], Catch::StartsWith("records of the subscriber acme of the pool send that were parked"));
  CHECK_THAT(lines[1], Catch::EndsWith("are given up (0 so far): closed"));
  CHECK_THAT(lines[2], Catch::StartsWith("records of the pool send that were parked before"));
}

TEST_CASE_METHOD(OrderedService, "a service whose retry topics the brokers refused takes no orders") {
  stages.parked_orders().set_longest_delay(Duration::zero());
  const auto answer = order(send_on_request);
  CHECK(answer.kind == Kind::refused);
  CHECK_THAT(answer.text, Catch::Contains("reads no retry topics"));
}

TEST_CASE_METHOD(OrderedService, "an order ends by itself when nothing comes back any more") {
  (void)order(send_on_request);
  stages.settle(SteadyClock::now() + std::chrono::minutes(9));
  CHECK(stages.parked_orders().any());
  stages.settle(SteadyClock::now() + std::chrono::minutes(11));
  CHECK_FALSE(stages.parked_orders().any());
}
