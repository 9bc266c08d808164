// The subscription of a member whose topics a pattern finds, on a group that the test plays (fake_group.h).
#include "lane/member/topic_watch.h"

#include "captured_log.h"
#include "catch.h"
#include "lane/member/fake_group.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Calls = FakeGroup::Calls;

struct Watched {
  explicit Watched(std::vector<std::string> names) {
    config.topics = {"^orders"};
    config.dead_letter.topic = "{topic}-dlt";
    TopicSubscription subscription{std::move(names), std::make_shared<const config::ConsumedTopics>(config),
                                   seconds(30)};
    if (!subscription.names.empty()) REQUIRE(consumer->subscribe(subscription.names));
    watch = std::make_unique<TopicWatch>(*consumer, std::move(subscription));
  }
  void finds(std::vector<std::string> topics) { watch->on_topics({std::move(topics), {}}, now); }

  FakeGroup group;
  std::unique_ptr<kafka::Consumer> consumer = group.consumer([] {});
  config::Config config;
  std::unique_ptr<TopicWatch> watch;
  TimePoint now = SteadyClock::now();
};

}  // namespace

TEST_CASE("a topic that the pattern finds later is subscribed to, except dead letters") {
  Watched member({"orders"});
  CHECK(member.group.calls() == Calls{"subscribe orders"});
  member.watch->advance(true, member.now);
  CHECK(member.group.calls("ask") == Calls{"ask topics"});
  member.finds({"refunds", "orders-eu", "orders-dlt", "orders", "orders-dlt-dlt"});
  member.watch->advance(true, member.now);
  CHECK(member.group.calls("subscribe") == Calls{"subscribe orders", "subscribe orders orders-eu"});
}

TEST_CASE("the subscription changes only at rest, and to the topics found last") {
  Watched member({"orders"});
  member.watch->advance(true, member.now);
  member.finds({"orders", "orders-eu"});
  member.watch->advance(false, member.now);
  CHECK(member.group.calls("subscribe").size() == 1);
  member.finds({"orders", "orders-asia"});
  member.watch->advance(true, member.now);
  CHECK(member.group.calls("subscribe") == Calls{"subscribe orders", "subscribe orders orders-asia"});
}

TEST_CASE("nothing changes if the same topics are found, if none are, or if no broker answers") {
  Watched member({"orders", "orders-eu"});
  for (const auto& topics : {std::vector<std::string>{"orders-eu", "orders"}, {"refunds"}, {}}) {
    member.finds(topics);
    member.watch->advance(true, member.now);
  }
  CapturedLog log;
  member.watch->on_topics({{}, "no broker"}, member.now);
  CHECK(log.lines({"gave no list of topics", "no broker"}) == 1);
  member.watch->advance(true, member.now);
  CHECK(member.group.calls("subscribe") == Calls{"subscribe orders orders-eu"});
}

TEST_CASE("a member whose pattern finds nothing subscribes once a topic exists") {
  Watched member({});
  CHECK(member.group.calls().empty());
  member.finds({"orders"});
  member.watch->advance(true, member.now);
  CHECK(member.group.calls("subscribe") == Calls{"subscribe orders"});
}

TEST_CASE("topics are looked up regularly, and soon after an error or a failed look") {
  Watched member({"orders"});
  const auto asked = [&] {
    member.watch->advance(true, member.now);
    return member.group.calls("ask").size();
  };
  CHECK(asked() == 1);
  CHECK(asked() == 1);  // the answer has not come
  member.finds({"orders"});
  member.now += seconds(29);
  CHECK(asked() == 1);
  member.now += seconds(1);
  CHECK(asked() == 2);
  member.watch->on_topics({{}, "no broker"}, member.now);
  member.now += seconds(5);
  CHECK(asked() == 3);
  member.finds({"orders"});
  member.watch->look_soon(member.now);
  member.now += seconds(1);
  CHECK(asked() == 4);
}

TEST_CASE("a member looks soon after a rebalance, unless its own new subscription may be the cause") {
  Watched member({"orders"});
  const auto asked_after_rebalance = [&] {
    member.watch->on_rebalance(member.now);
    member.now += seconds(1);
    member.watch->advance(true, member.now);
    return member.group.calls("ask").size();
  };
  CHECK(asked_after_rebalance() == 1);
  member.finds({"orders"});
  CHECK(asked_after_rebalance() == 2);
  member.finds({"orders", "orders-eu"});
  CHECK(asked_after_rebalance() == 3);  // and has subscribed
  CHECK(member.group.calls("subscribe").size() == 2);
  member.finds({"orders"});  // by a broker that does not know the new topic yet
  CHECK(asked_after_rebalance() == 3);
  CHECK(member.group.calls("subscribe").size() == 3);
  member.now += seconds(28);  // the interval after the last subscription is nearly over
  member.finds({"orders"});
  CHECK(asked_after_rebalance() == 3);
  CHECK(asked_after_rebalance() == 3);
  CHECK(asked_after_rebalance() == 4);
}
