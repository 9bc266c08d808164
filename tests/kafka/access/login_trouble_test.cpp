// What is said of logins that fail: the library's words are those that 2.0.2 and 2.15.1 gave at a
// Kafka 4.1.1.
#include "kafka/access/login_trouble.h"

#include <unistd.h>

#include <fstream>

#include "base/time.h"
#include "catch.h"
#include "certificate.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/client/connection_trouble.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

struct Row {
  const char* words;
  const char* beginning;
  const char* what_to_do;
};

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    const auto said = explained(row.words);
    CHECK_THAT(said, Catch::StartsWith(row.beginning));
    CHECK_THAT(said, Catch::Contains(row.what_to_do));
    CHECK_THAT(said, Catch::EndsWith(std::string(" (") + row.words + ")"));
  }
}

const std::string connection_closed =
    "[thrd:127.0.0.1:9092/bootstrap]: 127.0.0.1:9092/bootstrap: Disconnected: connection closed by peer: "
    "receive 0 "
    "after POLLIN (after 0ms in state ";

ClientSettings client_of(const char* bootstrap) { return {{"bootstrap.servers", {bootstrap, "", false}}}; }

}  // namespace

TEST_CASE("a refused user or password is reported with the keys to check") {
  check({{"sasl_plaintext://127.0.0.1:9094/bootstrap: SASL authentication error: Authentication failed: "
          "Invalid username "
          "or password (after 119ms in state AUTH_REQ)",
          "broker 127.0.0.1:9094 refuses the user or the password; ", "kafka.sasl.password"},
         {"sasl_ssl://kafka-1:9094/1: SASL authentication error: Authentication failed during authentication "
          "due to "
          "invalid credentials with SASL mechanism SCRAM-SHA-512 (after 320ms in state AUTH_REQ)",
          "broker kafka-1:9094 refuses the user or the password; ", "has a password for SCRAM-SHA-512 ("}});
}

TEST_CASE("a listener that expects no login, another login or a login is reported") {
  check(
      {{"sasl_plaintext://127.0.0.1:9092/bootstrap: SASL PLAIN mechanism handshake failed: Broker: Request "
        "not valid in "
        "current SASL state: broker's supported mechanisms:  (after 1ms in state AUTH_HANDSHAKE)",
        "broker 127.0.0.1:9092 expects no login on this port; ", "kafka.security.protocol to plaintext"},
       {"sasl_ssl://127.0.0.1:9093/bootstrap: SASL GSSAPI mechanism handshake failed: Broker: Request not "
        "valid in "
        "current SASL state: broker's supported mechanisms:  (after 1ms in state AUTH_HANDSHAKE)",
        "broker 127.0.0.1:9093 expects no login on this port; ", "kafka.security.protocol to ssl"},
       {"sasl_plaintext://127.0.0.1:9094/bootstrap: SASL SCRAM-SHA-256 mechanism handshake failed: Broker: "
        "Unsupported "
        "SASL mechanism: broker's supported mechanisms: PLAIN,GSSAPI (after 301ms in state AUTH_HANDSHAKE)",
        "broker 127.0.0.1:9094 does not offer SCRAM-SHA-256 on this port, only PLAIN,GSSAPI; ",
        "kafka.sasl.mechanism"},
       {"127.0.0.1:9094/bootstrap: Disconnected: verify that security.protocol is correctly configured, "
        "broker might "
        "require SASL authentication (after 1ms in state UP)",
        "broker 127.0.0.1:9094 seems to expect a login on this port; ", "sasl_plaintext"},
       {"ssl://127.0.0.1:9095/bootstrap: Disconnected: SSL connection closed by peer (after 1ms in state UP)",
        "broker 127.0.0.1:9095 seems to expect a login on this port; ", "sasl_ssl"}});
  check(
      {{"127.0.0.1:9093/bootstrap: Disconnected: connection reset by peer (after 0ms in state "
        "APIVERSION_QUERY)",
        "broker 127.0.0.1:9093 closed the connection without an answer: either no broker runs",
        "kafka.security.protocol to ssl"}});
  check({{(connection_closed + "UP)").c_str(), "broker 127.0.0.1:9092 seems to expect a login",
          "sasl_plaintext"},
         {(connection_closed + "APIVERSION_QUERY)").c_str(),
          "broker 127.0.0.1:9092 closed the connection without an answer: ", "or the port expects TLS"}});
}

TEST_CASE("a broker that hangs up during the TLS handshake is reported as one without TLS, or not running") {
  check(
      {{"ssl://127.0.0.1:9097/bootstrap: Disconnected: SSL connection closed by peer (after 1ms in state "
        "SSL_HANDSHAKE)",
        "broker 127.0.0.1:9097 closed the connection without an answer: either no broker runs",
        "kafka.security.protocol to plaintext"}});
}

TEST_CASE("a connection that is closed by a broker that has worked before is not explained") {
  const std::string plain =
      "127.0.0.1:9096/1: Disconnected: connection reset by peer (after 0ms in state APIVERSION_QUERY)";
  const std::string tls =
      "ssl://127.0.0.1:9096/1: Disconnected: SSL connection closed by peer (after 1ms in state "
      "SSL_HANDSHAKE)";
  CHECK(explained(plain) != plain);
  CHECK(explained(tls) != tls);
  note_connection("127.0.0.1:9096");
  CHECK(explained(plain) == plain);
  CHECK(explained(tls) == tls);
}

TEST_CASE("a login whose token or connection ended is not reported as refused") {
  const std::string again =
      "GroupCoordinator: 127.0.0.1:9094: SASL OAUTHBEARER mechanism handshake failed: Broker: Request not "
      "valid in "
      "current SASL state: broker's supported mechanisms:  (after 0ms in state AUTH_HANDSHAKE)";
  check({{again.c_str(), "broker 127.0.0.1:9094 ended the login because the token expires",
          "the token server"}});
  for (const std::string words : {"GroupCoordinator: SASL GSSAPI mechanism handshake failed: Local: Broker "
                                  "transport failure: broker's supported "
                                  "mechanisms: (n/a) (after 0ms in state DOWN)",
                                  "GroupCoordinator: SASL authentication error: SaslAuthenticateRequest "
                                  "failed: Local: Broker transport failure "
                                  "(after 0ms in state DOWN)"}) {
    check({{words.c_str(), "broker GroupCoordinator has ended the connection during the login",
            "tries again"}});
    CHECK_FALSE(refused_by_broker(words));
  }
}

TEST_CASE("a connection that is closed later, or after a login, does not point to a missing login") {
  for (const std::string words :
       {"127.0.0.1:9092/1: Disconnected: connection closed by peer: receive 0 after POLLIN (after 12ms in "
        "state UP)",
        "sasl_ssl://127.0.0.1:9092/bootstrap: Disconnected: SSL connection closed by peer (after 1ms in "
        "state UP)",
        "ssl://127.0.0.1:9092/bootstrap: Disconnected: SSL connection closed by peer (after 1ms in state "
        "APIVERSION_QUERY)"})
    CHECK(explained(words) == words);
}

TEST_CASE("a missing or refused token is reported with the keys to check") {
  check(
      {{"Failed to acquire SASL OAUTHBEARER token: {\"error\": \"invalid_client\", \"error_description\": "
        "\"wrong\"}",
        "the token server refuses the client; ", "kafka.sasl.oauthbearer.client.secret"},
       {"[thrd:background]: Failed to retrieve OIDC token from \"http://127.0.0.1:9/token\": Failed to "
        "connect to "
        "127.0.0.1 port 9 after 0 ms: Couldn't connect to server (-1)",
        "the token server cannot be reached; ", "kafka.sasl.oauthbearer.token.endpoint.url"},
       {"Failed to acquire SASL OAUTHBEARER token: OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong "
        "version number",
        "the token server does not speak TLS as expected; ", "http or with https"},
       {"Failed to acquire SASL OAUTHBEARER token: SSL certificate problem: unable to get local issuer "
        "certificate",
        "the certificate of the token server is refused; ", "kafka.https.ca.location"},
       {"Failed to acquire SASL OAUTHBEARER token: Operation timed out after 20001 milliseconds with 0 bytes "
        "received",
        "the token server cannot be reached; ", "until it expires"},
       {"[thrd:background]: Failed to retrieve OIDC token from \"http://127.0.0.1:9/token\": {\"error\": "
        "\"server_error\"} (500): retrying",
        "the token server issues no token; ", "until it expires"},
       {"Failed to acquire SASL OAUTHBEARER token: {\"error\": \"there is nothing here\"}",
        "the token server issues no token; ", "kafka.sasl.oauthbearer.token.endpoint.url"},
       {"sasl_plaintext://127.0.0.1:9094/bootstrap: SASL authentication error: "
        "{\"status\":\"invalid_token\"} (after "
        "127ms in state AUTH_REQ)",
        "broker 127.0.0.1:9094 refuses the token: ", "kafka.sasl.oauthbearer.token.endpoint.url"}});
}

TEST_CASE("a missing, expired or refused Kerberos ticket is reported with what to check") {
  const std::string before =
      "sasl_plaintext://127.0.0.1:9094/bootstrap: Failed to initialize SASL authentication: SASL handshake "
      "failed (start "
      "(-1)): SASL(-1): generic failure: GSSAPI Error: ";
  check({{(before +
           "No credentials were supplied, or the credentials were unavailable or inaccessible (No Kerberos "
           "credentials available (default cache: FILE:/tmp/krb5cc_0)) (after 0ms in state AUTH_REQ)")
              .c_str(),
          "there is no Kerberos ticket; ", "kafka.sasl.kerberos.keytab"}});
  check({{(before +
           "Unspecified GSS failure.  Minor code may provide more information (Server "
           "kafkas/127.0.0.1@EXAMPLE.COM not found in Kerberos database) (after 6ms in state AUTH_REQ)")
              .c_str(),
          "Kerberos knows no principal kafkas/127.0.0.1@EXAMPLE.COM; ", "kafka.sasl.kerberos.service.name"}});
  check({{(before + "Unspecified GSS failure.  Minor code may provide more information (Ticket expired) "
                    "(after 4ms in state "
                    "AUTH_REQ)")
              .c_str(),
          "the Kerberos ticket has expired, and was not renewed; ", "kafka.sasl.kerberos.keytab"}});
  check(
      {{"[thrd:GroupCoordinator]: GroupCoordinator/1: GSSAPI Error: Unspecified GSS failure.  Minor code may "
        "provide "
        "more information (Cannot contact any KDC for realm 'EXAMPLE.COM')",
        "no KDC answers; ", "/etc/krb5.conf"}});
  check({{(before + "Unspecified GSS failure.  Minor code may provide more information (Clock skew too "
                    "great) (after 2ms in "
                    "state AUTH_REQ)")
              .c_str(),
          "the clocks of this machine and of the KDC or the broker differ; ", "correct the clocks"}});
  check(
      {{"sasl_plaintext://127.0.0.1:9094/bootstrap: SASL authentication error: Authentication failed during "
        "authentication due to invalid credentials with SASL mechanism GSSAPI (after 313ms in state "
        "AUTH_REQ)",
        "broker 127.0.0.1:9094 refuses the Kerberos ticket: ", "key table"}});
  const std::string kinit =
      "[thrd:main]: Kerberos ticket refresh failed: timeout 10 kinit -R -t \"/k\" -k \"w@EXAMPLE.COM\" || "
      "timeout 10 "
      "kinit -t \"/k\" -k \"w@EXAMPLE.COM\": exited with code ";
  check({{(kinit + "124").c_str(), "kinit got no ticket: no KDC answered in time; ", "until it expires"},
         {(kinit + "127").c_str(), "kinit is not installed; ", "krb5-user"}});
  check(
      {{"[thrd:main]: Kerberos ticket refresh failed: kinit -R -t \"/k\" -k w@EXAMPLE.COM || kinit -t \"/k\" "
        "-k "
        "w@EXAMPLE.COM: exited with code 1",
        "kinit got no ticket; ", "kafka.sasl.kerberos.principal"}});
}

TEST_CASE("the reason for silent brokers is the last failure, with the details of the log") {
  ConnectionTrouble trouble(client_of("kafka-1:9092"));
  CHECK(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).text() ==
        "the brokers at kafka-1:9092 do not answer: Local: Timed out (check kafka.bootstrap.servers and that "
        "the brokers "
        "run)");
  trouble.logged("FAIL", connection_closed + "APIVERSION_QUERY)");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT).message,
             Catch::Contains("closed the connection without"));
  trouble.failed(RD_KAFKA_RESP_ERR__TRANSPORT, "kafka-1:9092/bootstrap: Send failed: Broken pipe");
  trouble.failed(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT).message,
             Catch::Contains("closed the connection without"));
  trouble.answered();
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT).message,
             !Catch::Contains("closed the connection without"));
}

TEST_CASE("a time-out does not hide the earlier reason why the brokers did not answer") {
  ConnectionTrouble trouble(client_of("kafka-1:9092"));
  trouble.failed(RD_KAFKA_RESP_ERR__TIMED_OUT, "kafka-1:9092/1: Connection setup timed out in state CONNECT");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message, Catch::Contains("setup timed out"));
  trouble.failed(RD_KAFKA_RESP_ERR__TRANSPORT,
                 "kafka-1:9092/1: Connect to ipv4#10.0.0.7:9092 failed: Connection refused (after 0ms)");
  trouble.failed(RD_KAFKA_RESP_ERR__TIMED_OUT, "kafka-1:9092/1: 1 request(s) timed out: disconnect");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message, Catch::Contains("Connection refused"));
  trouble.answered();
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message, Catch::Contains("Timed out"));
}

TEST_CASE("a failed connection is described without the client's states and counters") {
  const auto why = [](const std::string& brokers, const std::string& words) {
    ConnectionTrouble trouble(client_of(brokers.c_str()));
    trouble.failed(RD_KAFKA_RESP_ERR__TRANSPORT, words);
    return trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT).message;
  };
  const std::string details = " (after 0ms in state CONNECT, 1 identical error(s) suppressed)";
  const std::string refused = "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused";
  CHECK(why("127.0.0.1:9", refused + details) ==
        "the brokers at 127.0.0.1:9 do not answer: Connection refused");
  CHECK(why("127.0.0.1:9,127.0.0.1:8", refused) ==
        "the brokers at 127.0.0.1:9,127.0.0.1:8 do not answer: 127.0.0.1:9: Connection refused");
  CHECK(why("kafka-1:9", "ssl://kafka-1:9/bootstrap: Connect to ipv6#[::1]:9 failed: No route to host") ==
        "the brokers at kafka-1:9 do not answer: kafka-1:9 ([::1]:9): No route to host");
  CHECK(why("kafka-1:9",
            "kafka-1:9/bootstrap: Failed to resolve 'kafka-1:9': Name or service not known" + details) ==
        "the brokers at kafka-1:9 do not answer: the name of the host cannot be resolved: Name or service "
        "not known");
  const std::string other =
      "kafka-1:9/bootstrap: Connection setup timed out in state CONNECT (after 30000ms)";
  CHECK(why("kafka-1:9", other) == "the brokers at kafka-1:9 do not answer: " + other);
}

TEST_CASE("a login that failed on this machine is not reported as refused by brokers") {
  auto settings = client_of("kafka-1:9092");
  settings["sasl.username"] = {"worker", "", false};
  ConnectionTrouble trouble(settings);
  trouble.failed(RD_KAFKA_RESP_ERR__AUTHENTICATION, "Failed to acquire SASL OAUTHBEARER token: timed out");
  CHECK(trouble.login_refused());
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message,
             Catch::StartsWith(
                 "the login of user worker to the brokers at kafka-1:9092 failed: the token server cannot"));
  trouble.failed(RD_KAFKA_RESP_ERR__AUTHENTICATION,
                 "sasl_ssl://kafka-1:9092/1: SASL authentication error: a text of another broker");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).text(),
             Catch::StartsWith("the brokers at kafka-1:9092 refuse the login of user worker: ") &&
                 Catch::EndsWith("(check kafka.sasl.mechanism, sasl.username and sasl.password)"));
}

TEST_CASE("a token server that is asked again explains why brokers have not answered yet") {
  ConnectionTrouble trouble(client_of("kafka-1:9092"));
  trouble.logged(
      "OIDC",
      "[thrd:background]: Failed to retrieve OIDC token from \"http://t/token\": down (503): retrying");
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message,
             Catch::StartsWith(
                 "the login to the brokers at kafka-1:9092 failed: the token server issues no token; "));
  trouble.answered();
  CHECK_THAT(trouble.no_answer(RD_KAFKA_RESP_ERR__TIMED_OUT).message, !Catch::Contains("token"));
}

TEST_CASE("a client's certificate that brokers refuse is described") {
  const std::string words =
      "ssl://kafka-1:9093/bootstrap: Receive failed: error:0A000416:SSL routines::sslv3 alert certificate "
      "unknown: SSL "
      "alert number 46 (after 6ms in state APIVERSION_QUERY)";
  const auto file = "login_trouble_test-" + std::to_string(getpid()) + ".pem";
  auto settings = client_of("kafka-1:9093");
  settings["ssl.certificate.location"] = {file, "", false};
  ConnectionTrouble trouble(settings);
  trouble.failed(RD_KAFKA_RESP_ERR__SSL, words);
  CHECK(trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT).hint == file + " holds no readable certificate");
  std::ofstream(file) << Certificate("IP:127.0.0.1", -1).pem();
  const auto error = trouble.no_answer(RD_KAFKA_RESP_ERR__TRANSPORT);
  CHECK_THAT(error.message, Catch::Contains("does not accept the client's certificate"));
  CHECK_THAT(error.hint,
             Catch::Contains("the certificate of CN=test, issued by CN=test, which expired on 20"));
  std::remove(file.c_str());
}
