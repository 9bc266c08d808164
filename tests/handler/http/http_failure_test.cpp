// What becomes of a record when its request fails or its answer is broken: the connection, TLS, what is not
// HTTP, time-outs, answers without end.
#include "catch.h"
#include "handler/http/http.h"

using namespace laneway;
using namespace laneway::handler;

TEST_CASE("a refused connection and an unknown name are unavailable") {
  std::string closed;
  {
    RawServer gone([](Connection&) {});
    closed = gone.url();
  }
  const auto refused = outcome_of(*made(closed), record_data(1, "v"));
  CHECK(refused.verdict == Verdict::unavailable);
  CHECK(refused.reason.starts_with("no connection to 127.0.0.1:"));
  const auto unknown = outcome_of(*made("http://no-such-host.invalid/orders"), record_data(1, "v"));
  CHECK(unknown.verdict == Verdict::unavailable);
  CHECK(unknown.reason.starts_with("no connection to no-such-host.invalid:80: "));
}

TEST_CASE("a failed TLS handshake is unavailable") {
  HttpServer plain([](const auto&, auto&) {});
  auto url = plain.url();
  CHECK(outcome_of(*made(url.replace(0, 4, "https")), record_data(1, "v")).verdict == Verdict::unavailable);
  CHECK(plain.requests().empty());
}

TEST_CASE("a connection closed or reset after the request is a retry") {
  for (const std::string begun : {"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"}) {
    for (const bool reset : {false, true}) {
      RawServer server([&](Connection& connection) {
        connection.read_request();
        connection.write(begun);
        if (reset) connection.reset();
      });
      const auto outcome = outcome_of(*made(server.url()), record_data(1, "v"));
      CHECK(outcome.verdict == Verdict::retry);
      CHECK(outcome.cause == Cause::verdict);
      CHECK_FALSE(outcome.after.has_value());
    }
  }
}

TEST_CASE("an answer that is not HTTP is a retry") {
  RawServer server([&](Connection& connection) {
    connection.read_request();
    connection.write("SSH-2.0-OpenSSH_9.2\r\n");
  });
  CHECK(outcome_of(*made(server.url()), record_data(1, "v")).verdict == Verdict::retry);
}

TEST_CASE("a missing answer is a retry with cause timeout") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.read_request();  // until the client hangs up
  });
  auto settings = settings_for(server.url());
  settings.timeout = milliseconds(200);
  const auto handler = made(settings);
  Outcome outcome;
  // A busy machine may need longer than that to connect, which is another outcome.
  REQUIRE(eventually([&] {
    outcome = outcome_of(*handler, record_data(1, "v"));
    return outcome.verdict != Verdict::unavailable;
  }));
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.cause == Cause::timeout);
  CHECK(outcome.reason.starts_with("no complete answer from 127.0.0.1:"));
  CHECK(handler->timeout() > settings.timeout);
}

TEST_CASE("an endless answer is cut, and its status is used") {
  std::atomic<std::size_t> written{0};
  RawServer server([&](Connection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "2000\r\n" + std::string(0x2000, 'a') + "\r\n";
    while (connection.write(chunk)) written += chunk.size();
  });
  const auto outcome = outcome_of(*made(server.url()), record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::reject);
  CHECK(outcome.reason.ends_with(": " + std::string(200, 'a') + "..."));
}

TEST_CASE("a large answer of success is done") {
  HttpServer server(
      [](const auto&, auto& response) { response.set_content(std::string(10 << 20, 'a'), "text/plain"); });
  CHECK(outcome_of(*made(server.url()), record_data(1, "v")).verdict == Verdict::done);
}

TEST_CASE("a server that does not accept a connection in time is unavailable") {
  FullListener out;
  auto settings = settings_for(out.url());
  settings.timeout = milliseconds(50);
  const auto outcome = outcome_of(*made(settings), record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::unavailable);
  CHECK(outcome.cause == Cause::verdict);
  CHECK(outcome.reason.starts_with("no connection to 127.0.0.1:"));
}
