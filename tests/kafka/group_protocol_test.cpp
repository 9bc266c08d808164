// What group.protocol: consumer makes different, without brokers.
#include "kafka/group_protocol.h"

#include <librdkafka/rdkafka.h>

#include "catch.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

ClientSettings with_protocol(const std::string& protocol) {
  ClientSettings settings;
  settings["group.protocol"] = {protocol, "f.yaml:3:5", false};
  return settings;
}

}  // namespace

TEST_CASE("the brokers distribute where group.protocol is consumer, however it is written") {
  CHECK_FALSE(brokers_distribute({}));
  CHECK_FALSE(brokers_distribute(with_protocol("classic")));
  CHECK(brokers_distribute(with_protocol("Consumer")));
}

TEST_CASE("a client that cannot take part is refused with the version that can") {
  CHECK(check_group_protocol({}).ok());
  CHECK(check_group_protocol(with_protocol("classic")).ok());
  const auto status = check_group_protocol(with_protocol("consumer"));
  REQUIRE(status.ok() == (rd_kafka_version() >= 0x020c00ff));
  if (status.ok()) return;
  CHECK(status.error().kind == ErrorKind::configuration);
  CHECK(status.error().text().find("f.yaml:3:5: kafka.group.protocol: librdkafka ") == 0);
  CHECK(status.error().hint.find("2.12.0 or newer") != std::string::npos);
}

TEST_CASE("a fatal refusal says what to do, where that is known") {
  struct Row {
    int code;
    ErrorKind kind;
    const char* words;
  };
  for (const auto& [code, kind, words] :
       {Row{35, ErrorKind::configuration, "switched off"},
        Row{112, ErrorKind::configuration, "kafka.group.remote.assignor"},
        Row{128, ErrorKind::configuration, "pattern in topics"},
        Row{69, ErrorKind::configuration, "group.consumer.migration.policy"},
        Row{111, ErrorKind::unavailable, "group.instance.id"},
        Row{82, ErrorKind::fatal, "the client's own words"}}) {
    const auto error = membership_error(code, "the client's own words");
    CAPTURE(code, error.text());
    CHECK(error.kind == kind);
    CHECK(error.text().find(words) != std::string::npos);
  }
}
