#include "handler/http/http_handler.h"

#include <set>

#include "catch.h"
#include "handler/http/http.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

constexpr std::string_view accepted = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The request that a record becomes, byte for byte.
std::string on_the_wire(config::HttpSettings settings, kafka::RecordData data, std::uint32_t attempt = 1) {
  std::string request;
  {
    RawServer server([&](Connection& connection) {
      request = connection.read_request();
      connection.write(accepted);
    });
    settings.url = server.url();
    CHECK(outcome_of(*made(settings), std::move(data), attempt).verdict == Verdict::done);
  }
  return request;
}

bool has_line(const std::string& request, const std::string& line) {
  return request.find("\r\n" + line + "\r\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a record is a POST with the unchanged value") {
  const std::string odd("\0\r\n\xff{}", 6);
  auto data = record_data(42, odd, std::string("k \0\xff", 4));
  data.headers = {{"tenant", "a\r\nX-Injected: 1"}, {"traceparent", "00-ab-cd-01"}};
  auto settings = settings_for("");
  settings.content_type = "application/json";
  settings.headers = {"tenant"};
  const auto request = on_the_wire(settings, std::move(data), 3);
  CHECK(request.starts_with("POST /orders HTTP/1.1\r\n"));
  CHECK(request.ends_with("\r\n\r\n" + odd));
  for (const auto* line :
       {"Content-Type: application/json", "Content-Length: 6", "Kafka-Topic: orders", "Kafka-Partition: 3",
        "Kafka-Offset: 42", "Kafka-Timestamp: 1767323045678", "Kafka-Key: k%20%00%FF", "Laneway-Attempt: 3",
        "Laneway-Delivery-Id: c-1/orders/3/42", "traceparent: 00-ab-cd-01", "tenant: a%0D%0AX-Injected: 1",
        "User-Agent: laneway"}) {
    INFO(line);
    CHECK(has_line(request, line));
  }
  CHECK(request.find("Expect") == std::string::npos);
}

TEST_CASE("the breaker's log names the server without the secrets of its address") {
  CHECK(made("http://user:secret@shop.example:8080/orders?key=secret")->downstream() == "shop.example:8080");
  CHECK(made("http://shop.example/orders")->downstream() == "shop.example:80");
}

TEST_CASE("a tombstone differs from an empty value, and a missing key from an empty key") {
  const auto tombstone = on_the_wire(settings_for(""), record_data(1, {}));
  CHECK(has_line(tombstone, "Content-Length: 0"));
  CHECK(has_line(tombstone, "Kafka-Tombstone: true"));
  CHECK(tombstone.find("Kafka-Key") == std::string::npos);
  const auto empty = on_the_wire(settings_for(""), record_data(1, "", ""));
  CHECK(has_line(empty, "Content-Length: 0"));
  CHECK(empty.find("Kafka-Tombstone") == std::string::npos);
  CHECK(has_line(empty, "Kafka-Key:"));
}

TEST_CASE("a large body is sent whole, without waiting for a 100 Continue") {
  HttpServer server([](const auto&, auto&) {});
  const std::string large(3 << 20, 'x');
  CHECK(outcome_of(*made(server.url()), record_data(1, large)).verdict == Verdict::done);
  CHECK(server.requests().at(0).body == large);
  CHECK_FALSE(server.requests().at(0).has_header("Expect"));
}

TEST_CASE("a status that arrives becomes its verdict") {
  int status = 0;
  HttpServer server([&](const auto&, auto& response) {
    response.status = status;
    response.set_content("because\n", "text/plain");
  });
  const auto handler = made(server.url());
  const auto answer = [&](int code) {
    status = code;
    return outcome_of(*handler, record_data(1, "v"));
  };
  CHECK(answer(201).verdict == Verdict::done);
  CHECK(answer(429).cause == Cause::throttled);
  CHECK(answer(500).verdict == Verdict::retry);
  CHECK(answer(503).verdict == Verdict::unavailable);
  CHECK(answer(404).verdict == Verdict::retry);
  CHECK(answer(422).verdict == Verdict::reject);
  const auto server_name = server.url().substr(7, server.url().find("/orders") - 7);
  CHECK(answer(422).reason == "HTTP 422 from " + server_name + ": because\\n");
}

TEST_CASE("a redirect is not followed") {
  HttpServer server([](const auto&, auto& response) { response.set_redirect("/orders", 307); });
  const auto outcome = outcome_of(*made(server.url()), record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason.find("redirected to /orders;") != std::string::npos);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("Retry-After is read as seconds or as a date, and ignored if invalid") {
  std::string value;
  HttpServer server([&](const auto&, auto& response) {
    response.status = 503;
    response.set_header("Retry-After", value);
  });
  auto settings = settings_for(server.url());
  settings.max_retry_after = seconds(300);
  const auto handler = made(settings);
  const auto after = [&](const std::string& text) {
    value = text;
    return outcome_of(*handler, record_data(1, "v")).after;
  };
  CHECK(after("7") == Duration(seconds(7)));
  CHECK(after("0") == Duration::zero());
  CHECK(after("120") == Duration(seconds(120)));
  CHECK(after("20300101") == Duration(seconds(300)));
  CHECK(after("99999999999999999999999") == Duration(seconds(300)));
  CHECK(after("Wed, 21 Oct 2099 07:28:00 GMT") == Duration(seconds(300)));
  CHECK(after("Wed, 21 Oct 2015 07:28:00 GMT") == Duration::zero());
  CHECK_FALSE(after("soon").has_value());
  CHECK_FALSE(after("").has_value());
}

TEST_CASE("the connection is kept and reused") {
  HttpServer server([](const auto&, auto&) {});
  const auto handler = made(server.url());
  std::vector<kafka::RecordData> records;
  for (int i = 0; i < 20; ++i) records.push_back(record_data(i, "v"));
  Run run(std::move(records));
  handler->handle(run.task());
  CHECK(run.result().done == 20);
  std::set<int> ports;
  for (const auto& request : server.requests()) ports.insert(request.remote_port);
  CHECK(ports.size() == 1);
}

TEST_CASE("simultaneous requests have one connection each, and no more") {
  std::atomic<int> together{0};
  HttpServer server([&](const auto&, auto&) {
    ++together;
    static_cast<void>(eventually([&] { return together >= 4; }));
  });
  const auto handler = made(server.url());
  for (int round = 0; round < 2; ++round) {
    together = 0;
    CHECK(Runs(*handler, 4).done() == 4);
    CHECK(together == 4);
  }
  std::set<int> ports;
  for (const auto& request : server.requests()) ports.insert(request.remote_port);
  CHECK(server.requests().size() == 8);
  CHECK(ports.size() == 4);
}

TEST_CASE("a stop cancels a request that hangs, and the handler goes on") {
  std::atomic<bool> reached{false};
  RawServer server([&](Connection& connection) {
    connection.read_request();
    if (reached.exchange(true)) {
      connection.write(accepted);
    } else {
      connection.read_request();  // until the client hangs up
    }
  });
  auto settings = settings_for(server.url());
  settings.timeout = std::chrono::hours(1);
  const auto handler = made(settings);
  Run run(one(record_data(1, "v")));
  std::thread worker([&] { handler->handle(run.task()); });
  while (!reached) std::this_thread::yield();
  run.stop();
  worker.join();
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].outcome.verdict == Verdict::retry);
  CHECK(run.result().failures[0].outcome.cause == Cause::timeout);
  CHECK(outcome_of(*handler, record_data(1, "v"), 2).verdict == Verdict::done);
}

TEST_CASE("the requests of many tasks are at the server at the same time") {
  constexpr int count = 60;
  Gathering server(count);
  const auto handler = made(server.url());
  Runs runs(*handler, count);  // ends though nothing is answered before the last is there
  CHECK(runs.done() == count);
  CHECK(server.most() == count);
}

TEST_CASE("the server never has more requests than connections") {
  Gathering server(2);
  auto settings = settings_for(server.url());
  settings.connections = 2;
  const auto handler = made(settings);
  CHECK(Runs(*handler, 12).done() == 12);
  CHECK(server.most() == 2);
  CHECK(server.connections() == 2);
}

TEST_CASE("every connection can be busy, and no further connection is opened") {
  constexpr int count = 161;  // more than a few of libcurl's handles have, and no multiple of anything
  Gathering server(count);
  auto settings = settings_for(server.url());
  settings.connections = count;
  const auto handler = made(settings);
  CHECK(Runs(*handler, count).done() == count);
  CHECK(server.connections() == count);
  CHECK(Runs(*handler, 2 * count).done() == 2 * count);
  CHECK(server.connections() == count);
}

TEST_CASE("records of one key are sent one after the other, and none after a failed one") {
  HttpServer server([](const auto& request, auto& response) {
    if (request.get_header_value("Kafka-Offset") == "3") response.status = 500;
  });
  const auto handler = made(server.url());
  std::vector<kafka::RecordData> records;
  for (int i = 0; i < 6; ++i) records.push_back(record_data(i, "v"));
  Run run(std::move(records), true);
  handler->handle(run.task());
  CHECK(run.result().done == 3);
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].index == 3);
  CHECK(run.state(4) == ItemState::unanswered);
  std::vector<std::string> offsets;
  for (const auto& request : server.requests()) offsets.push_back(request.get_header_value("Kafka-Offset"));
  CHECK(offsets == std::vector<std::string>{"0", "1", "2", "3"});
}

TEST_CASE("when the records of a key are recalled, the one at the server is the last") {
  Run* at_server = nullptr;
  HttpServer server([&](const auto& request, auto&) {
    if (request.get_header_value("Kafka-Offset") == "1") at_server->want_back();
  });
  const auto handler = made(server.url());
  Run run({record_data(0, "v"), record_data(1, "v"), record_data(2, "v")}, true);
  at_server = &run;
  handler->handle(run.task());
  CHECK(run.result().done == 2);
  CHECK(run.result().failures.empty());
  CHECK(run.state(2) == ItemState::unanswered);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a record that is stopped before it was sent has had no attempt") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.read_request();  // until the client hangs up
  });
  auto settings = settings_for(server.url());
  settings.connections = 1;
  auto handler = made(settings);
  Run in_the_air(one(record_data(1, "v")));
  Run waiting(one(record_data(2, "v")));
  handler->handle(in_the_air.task());
  while (server.connections() == 0) std::this_thread::yield();
  handler->handle(waiting.task());
  waiting.stop();
  CHECK(waiting.result().failures.empty());
  CHECK(waiting.state(0) == ItemState::unanswered);
  CHECK_FALSE(in_the_air.ended());
  handler.reset();
  CHECK(in_the_air.result().failures.empty());
}

TEST_CASE("a handler that is destroyed cancels its requests and answers nothing more") {
  std::atomic<int> cut{0};
  RawServer server([&](Connection& connection) {
    connection.read_request();
    if (connection.read_request().empty()) ++cut;
  });
  auto handler = made(server.url());
  Runs runs(*handler, 20);
  while (server.connections() == 0) std::this_thread::yield();
  handler.reset();
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(runs[i].ended());
    CHECK(runs[i].result().failures.empty());
  }
  CHECK(runs.done() == 0);
  while (cut == 0) std::this_thread::yield();
}

TEST_CASE("settings that cannot work are refused by name") {
  const auto refused = [](const config::HttpSettings& settings) {
    const auto handler = make_handler(config_with(settings));
    REQUIRE_FALSE(handler.ok());
    CHECK(handler.error().kind == ErrorKind::configuration);
    CHECK_FALSE(handler.error().hint.empty());
    return handler.error().message;
  };
  for (const auto* url : {"", "orders", "ftp://host/x", "file:///etc/passwd", "http://", "http://a b/"}) {
    INFO(url);
    CHECK(refused(settings_for(url)).starts_with("handler.http.url: "));
  }
  CHECK(refused(settings_for("ftp://user:secret@host/")).find("secret") == std::string::npos);
  auto settings = settings_for("http://127.0.0.1:1/");
  settings.headers = {"Content-Length"};
  CHECK(refused(settings).starts_with("handler.http.headers: Content-Length"));
  settings.headers = {};
  settings.content_type = "a\r\nb";
  CHECK(refused(settings).starts_with("handler.http.content_type: "));
}
