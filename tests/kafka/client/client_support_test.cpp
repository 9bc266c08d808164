// What is refused or warned of because of what the linked library can do.
#include "kafka/client/client_support.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

const ClientLibrary old_one{0x020002ff,
                            "gzip,snappy,ssl,sasl,sasl_gssapi,sasl_plain,sasl_scram,sasl_oauthbearer"};
const ClientLibrary before_mended{0x020600ff, old_one.features + ",http,oidc"};
const ClientLibrary mended{0x020601ff, before_mended.features};
const ClientLibrary bare{0x020f01ff, "ssl,sasl_plain,sasl_scram"};

ClientSettings login(const std::string& mechanism, const std::string& protocol = "sasl_ssl") {
  return {{"security.protocol", {protocol, "f.yaml:2:3", false}},
          {"sasl.mechanism", {mechanism, "f.yaml:3:3", false}}};
}

std::string said_of(const ClientSettings& settings, const ClientLibrary& client) {
  const auto refused = unsupported(settings, client);
  if (refused) CHECK(refused->kind == ErrorKind::configuration);
  return refused ? refused->text() : "";
}

}  // namespace

TEST_CASE("SCRAM is refused on a library whose logins newer brokers refuse, with the release that works") {
  for (const auto& client : {old_one, before_mended})
    for (const auto* mechanism : {"SCRAM-SHA-256", "scram-sha-512"})
      CHECK_THAT(said_of(login(mechanism), client),
                 Catch::StartsWith("f.yaml:3:3: kafka.sasl.mechanism: librdkafka 2.") &&
                     Catch::Contains("2.6.1 or newer"));
  CHECK(said_of(login("SCRAM-SHA-256"), mended).empty());
  CHECK_THAT(said_of(login("SCRAM-SHA-256"), old_one), Catch::Contains("librdkafka 2.0.2 cannot log in"));
}

TEST_CASE("OIDC and Kerberos are refused on a library that was built without") {
  auto oidc = login("OAUTHBEARER");
  oidc["sasl.oauthbearer.method"] = {"OIDC", "f.yaml:4:3", false};
  CHECK_THAT(said_of(oidc, old_one), Catch::StartsWith("f.yaml:4:3: kafka.sasl.oauthbearer.method: ") &&
                                         Catch::Contains("built with libcurl"));
  CHECK(said_of(oidc, mended).empty());
  CHECK_THAT(said_of(login("GSSAPI"), bare), Catch::Contains("without Kerberos"));
  CHECK(said_of(login("GSSAPI"), old_one).empty());
}

TEST_CASE("a login without a mechanism is checked as Kerberos, the library's default") {
  const ClientSettings unnamed{{"security.protocol", {"SASL_PLAINTEXT", "f.yaml:2:3", false}}};
  CHECK_THAT(said_of(unnamed, bare), Catch::StartsWith("f.yaml:2:3: kafka.sasl.mechanism: "));
  CHECK(said_of(unnamed, old_one).empty());
  CHECK(said_of({}, bare).empty());
}

TEST_CASE("other logins, and connections without one, are accepted on every library") {
  for (const auto& client : {old_one, before_mended, mended, bare}) {
    CHECK(said_of(login("PLAIN"), client).empty());
    CHECK(said_of(login("SCRAM-SHA-256", "ssl"), client).empty());
  }
}

TEST_CASE("group.protocol: consumer is refused on a library that is too old, with the version to use") {
  const auto with_protocol = [](const std::string& protocol) {
    return ClientSettings{{"group.protocol", {protocol, "f.yaml:3:5", false}}};
  };
  const ClientLibrary preview{0x020b01ff, mended.features};
  const ClientLibrary able{0x020c00ff, mended.features};
  for (const auto& client : {old_one, preview, able}) {
    CHECK(said_of({}, client).empty());
    CHECK(said_of(with_protocol("classic"), client).empty());
  }
  CHECK(said_of(with_protocol("consumer"), able).empty());
  for (const auto& client : {old_one, preview}) {
    const auto refused = unsupported(with_protocol("Consumer"), client);
    REQUIRE(refused);
    CHECK(refused->kind == ErrorKind::configuration);
    CHECK_THAT(refused->text(), Catch::StartsWith("f.yaml:3:5: kafka.group.protocol: librdkafka 2."));
    CHECK_THAT(refused->hint, Catch::Contains("2.12.0 or newer"));
  }
  CHECK(check_settings(with_protocol("consumer")).ok() == (linked_client().version >= 0x020c00ff));
}

TEST_CASE("a release that stops consumers is refused") {
  for (const int version : {0x020500ff, 0x020a00ff}) {
    const auto warnings = version_warnings({}, {version, ""});
    REQUIRE_FALSE(warnings);
    CHECK(warnings.error().kind == ErrorKind::fatal);
  }
  for (const int version : {0x020002ff, 0x020503ff, 0x020a01ff, 0x020f01ff})
    CHECK(version_warnings({}, {version, ""}).ok());
}

TEST_CASE("defects of a release cause a warning if the settings need the broken part") {
  struct Row {
    const char* key;
    const char* value;
    int last_with_warning;
    int first_without;
  };
  for (const auto& [key, value, last, first] :
       {Row{"partition.assignment.strategy", "cooperative-sticky", 0x020600ff, 0x020601ff},
        Row{"group.protocol", "consumer", 0x020e00ff, 0x020f00ff}}) {
    CAPTURE(key);
    const ClientSettings asked{{key, {value, "", false}}};
    const auto warnings = [](const ClientSettings& settings, int version) {
      return version_warnings(settings, {version, ""}).value().size();
    };
    CHECK(warnings(asked, last) == 1);
    CHECK(warnings(asked, first) == 0);
    CHECK(warnings({}, last) == 0);
  }
}

TEST_CASE("fetch.queue.backoff.ms works from 2.2.0 on") {
  CHECK_FALSE(has_queue_backoff({0x020102ff, ""}));
  CHECK(has_queue_backoff({0x020200ff, ""}));
}

TEST_CASE("the linked library is known, and decides which settings are accepted") {
  const auto client = linked_client();
  CHECK(client.version >= 0x020002ff);
  CHECK_THAT(client.features, Catch::Contains("ssl"));
  auto scram = login("SCRAM-SHA-256");
  scram["sasl.username"] = scram["sasl.password"] = {"x", "", false};
  CHECK(check_settings(scram).ok() == !unsupported(scram, client).has_value());
}

TEST_CASE("settings that the client refuses are an error with their place") {
  CHECK(check_settings({{"bootstrap.servers", {"nowhere:9092", "f.yaml:1:3", false}}}));
  const auto unknown = check_settings({{"no.such.key", {"1", "f.yaml:2:3", false}}});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().kind == ErrorKind::configuration);
  CHECK_THAT(unknown.error().message, Catch::StartsWith("f.yaml:2:3: kafka.no.such.key: "));
  const auto secret = check_settings({{"security.protocol", {"hunter2", "f.yaml:3:3", true}}});
  REQUIRE_FALSE(secret);
  CHECK_THAT(secret.error().text(), !Catch::Contains("hunter2"));
}
