// Which logins are refused because the linked library cannot do them.
#include "kafka/client_support.h"

#include "catch.h"
#include "kafka/directory.h"

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

TEST_CASE("SCRAM is refused on a library whose logins newer brokers refuse, with the release that can") {
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

TEST_CASE("without a mechanism the library takes Kerberos") {
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

TEST_CASE("the linked library is known, and its settings are checked by what it can do") {
  const auto client = linked_client();
  CHECK(client.version >= 0x020002ff);
  CHECK_THAT(client.features, Catch::Contains("ssl"));
  auto scram = login("SCRAM-SHA-256");
  scram["sasl.username"] = scram["sasl.password"] = {"x", "", false};
  CHECK(check_settings(scram).ok() == !unsupported(scram, client).has_value());
}
