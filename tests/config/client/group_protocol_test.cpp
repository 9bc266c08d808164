// How the group protocols differ for a member, by the settings of its client.
#include "config/client/group_protocol.h"

#include "catch.h"
#include "config/text.h"

using namespace laneway;
using namespace laneway::config;

namespace {

ClientSettings one_setting(const std::string& key, const std::string& value) {
  return {{key, {value, "f.yaml:3:5", false}}};
}
ClientSettings with_protocol(const std::string& protocol) { return one_setting("group.protocol", protocol); }
ClientSettings with_strategy(const std::string& strategy) {
  return one_setting("partition.assignment.strategy", strategy);
}

}  // namespace

TEST_CASE("the brokers assign partitions if group.protocol is consumer, in any spelling") {
  CHECK_FALSE(group_protocol({}).by_brokers);
  CHECK_FALSE(group_protocol(with_protocol("classic")).by_brokers);
  CHECK_FALSE(group_protocol(with_strategy("cooperative-sticky")).by_brokers);
  CHECK(group_protocol(with_protocol("Consumer")).by_brokers);
}

TEST_CASE("a stopping member leaves by a request, unless the brokers assign or the member is static") {
  CHECK(leaves_by_request({}));
  CHECK_FALSE(leaves_by_request(with_protocol("consumer")));
  CHECK_FALSE(leaves_by_request(one_setting("group.instance.id", "host-a")));
}

TEST_CASE("partitions are given back one by one under an incremental protocol only") {
  CHECK(group_protocol(with_strategy("cooperative-sticky")).incremental);
  CHECK(group_protocol(with_protocol("consumer")).incremental);
  for (const auto& settings : {ClientSettings{}, with_protocol("classic"), with_strategy("range"),
                               with_strategy("range,roundrobin")})
    CHECK_FALSE(group_protocol(settings).incremental);
  CHECK_FALSE(whole_assignment().incremental);
}

TEST_CASE("group.protocol: classic leaves the choice to the strategy") {
  auto settings = with_strategy("cooperative-sticky");
  settings.merge(with_protocol("classic"));
  CHECK(group_protocol(settings).incremental);
}

TEST_CASE("the settings that a row names ask for the row") {
  for (const auto* protocol : {&group_protocol(with_protocol("consumer")),
                               &group_protocol(with_strategy("cooperative-sticky")), &whole_assignment()})
    CHECK(&group_protocol(one_setting(protocol->key, protocol->value)) == protocol);
}

TEST_CASE("each value of group.protocol has a row, except classic") {
  for (const auto& value : split(find_client_key("group.protocol")->choices, " "))
    if (value != "classic") CHECK(group_protocol(with_protocol(value)).value == value);
}

TEST_CASE("a member of another group keeps the connection, and no key of a member") {
  ClientSettings settings = one_setting("bootstrap.servers", "127.0.0.1:9092");
  for (const char* key :
       {"group.protocol", "group.instance.id", "group.remote.assignor", "partition.assignment.strategy",
        "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"})
    settings.merge(one_setting(key, "1"));
  settings = without_membership(settings);
  CHECK(settings.size() == 1);
  CHECK(settings.contains("bootstrap.servers"));
}
