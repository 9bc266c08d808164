#include "handler/produce/produce_refusals.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::handler;
using Ended = kafka::DeliveryStatus;

namespace {

const kafka::TopicPartition orders{"orders", 3};
const kafka::TopicPartition others{"orders", 4};

kafka::Delivery delivery_of(Ended status) { return {status, "why", 0, kafka::no_offset}; }

}  // namespace

TEST_CASE("without a refusal, no record is delayed") {
  ProduceRefusals records(true);
  for (std::int64_t offset = 0; offset < 10; ++offset) {
    CHECK_FALSE(records.refusal(orders, offset, 1));
    CHECK(records.may_send(orders, offset));
    records.sent(orders, offset);
  }
  records.delivered(orders, 0, delivery_of(Ended::acknowledged));
  CHECK(records.may_send(orders, 10));
}

TEST_CASE("the records of a refused batch are sent singly until each is acknowledged") {
  ProduceRefusals records(false);
  for (const std::int64_t offset : {1, 2}) records.sent(orders, offset);
  for (const std::int64_t offset : {1, 2})
    CHECK(records.delivered(orders, offset, delivery_of(Ended::batch_refused)));
  records.sent(orders, 9);
  CHECK_FALSE(records.may_send(orders, 1));  // something is on its way
  CHECK(records.may_send(orders, 10));       // one that is not suspect
  CHECK(records.may_send(others, 1));        // nor is the same offset elsewhere
  records.delivered(orders, 9, delivery_of(Ended::acknowledged));
  CHECK(records.may_send(orders, 1));
  records.sent(orders, 1);
  CHECK_FALSE(records.may_send(orders, 10));  // nothing goes beside a suspect
  CHECK_FALSE(records.may_send(orders, 2));
  records.delivered(orders, 1, delivery_of(Ended::acknowledged));
  records.sent(orders, 10);
  CHECK(records.may_send(orders, 1));  // no longer one
  CHECK_FALSE(records.may_send(orders, 2));
}

TEST_CASE("in a transaction, a refused record fails when it comes again, until its next attempt") {
  ProduceRefusals records(true);
  records.sent(orders, 1);
  records.sent(orders, 2);
  CHECK(records.delivered(orders, 1, delivery_of(Ended::invalid)));
  CHECK_FALSE(records.delivered(orders, 2, delivery_of(Ended::withdrawn)));
  CHECK_FALSE(records.refusal(orders, 2, 1));
  CHECK_FALSE(records.refusal(others, 1, 1));
  for (int aborts = 0; aborts < 3; ++aborts)
    CHECK(records.refusal(orders, 1, 1) == std::optional<std::string>("why"));
  CHECK_FALSE(records.refusal(orders, 1, 2));  // its topic may take it now
  CHECK_FALSE(records.refusal(orders, 1, 1));
}

TEST_CASE("without transactions, the refusal is the answer at once") {
  ProduceRefusals records(false);
  records.sent(orders, 1);
  records.delivered(orders, 1, delivery_of(Ended::too_large));
  CHECK_FALSE(records.refusal(orders, 1, 1));
}

TEST_CASE("a suspect that is refused alone is no longer a suspect") {
  ProduceRefusals records(true);
  records.sent(orders, 1);
  records.delivered(orders, 1, delivery_of(Ended::batch_refused));
  records.sent(orders, 1);
  records.delivered(orders, 1, delivery_of(Ended::too_large));
  CHECK(records.refusal(orders, 1, 1));
  records.sent(orders, 2);
  CHECK(records.may_send(orders, 1));
}
