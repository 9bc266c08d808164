// What brokers answer about a member, without brokers.
#include "kafka/group/membership.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {
const auto& protocol = config::group_protocol({{"group.protocol", {"consumer", "f.yaml:3:5", false}}});
}  // namespace

TEST_CASE("a broker supports the protocol if it lists the protocol, or knows its settings") {
  const std::string list = "group.coordinator.rebalance.protocols";
  CHECK(offers(protocol, {{list, "classic,consumer"}}));
  CHECK_FALSE(offers(protocol, {{list, "classic"}, {"group.consumer.session.timeout.ms", "45000"}}));
  CHECK(offers(protocol, {{"group.consumer.session.timeout.ms", "45000"}}));
  CHECK_FALSE(offers(protocol, {{"log.retention.ms", "1"}}));
}

TEST_CASE("a fatal refusal says what to do, if that is known") {
  struct Row {
    int code;
    ErrorKind kind;
    const char* words;
  };
  for (const auto& [code, kind, words] :
       {Row{35, ErrorKind::configuration, "disabled it"},
        Row{112, ErrorKind::configuration, "kafka.group.remote.assignor"},
        Row{69, ErrorKind::configuration, "group.consumer.migration.policy"},
        Row{111, ErrorKind::unavailable, "group.instance.id"},
        Row{82, ErrorKind::fatal, "the client's own words"}}) {
    const auto error = membership_error(protocol, code, "the client's own words");
    CAPTURE(code, error.text());
    CHECK(error.kind == kind);
    CHECK(error.text().find(words) != std::string::npos);
  }
}
