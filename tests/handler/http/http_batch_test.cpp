// Requests with several records: which go together, what counts as a call, and whose answer is whose.
#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "handler/format/record_json.h"
#include "handler/http/http.h"
#include "handler/http/http_batch.h"

using namespace laneway;
using namespace laneway::handler;
using nlohmann::json;

namespace {

config::HttpSettings batches(const std::string& url, std::uint32_t records) {
  auto settings = settings_for(url);
  settings.batch.records = records;
  settings.batch.linger = std::chrono::hours(1);  // unless a test says otherwise: a request waits to be full
  return settings;
}

std::vector<std::int64_t> offsets_in(const httplib::Request& request) {
  std::vector<std::int64_t> offsets;
  for (const auto& record : json::parse(request.body)) offsets.push_back(record.at("offset"));
  return offsets;
}

}  // namespace

TEST_CASE("records of several tasks go in one request, in the order in which they came") {
  HttpServer server([](const auto&, auto&) {});
  const auto handler = made(batches(server.url(), 3));
  Runs runs(*handler, 6);
  CHECK(runs.done() == 6);
  auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  // They are under way at the same time: either may arrive first.
  std::sort(requests.begin(), requests.end(),
            [](const auto& one, const auto& other) { return offsets_in(one) < offsets_in(other); });
  const auto& request = requests.front();
  CHECK(offsets_in(request) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(request.get_header_value("Laneway-Records") == "3");
  CHECK(request.get_header_value("Content-Type") == "application/json");
  CHECK_FALSE(request.has_header("Kafka-Offset"));
  CHECK(nlohmann::json::parse(request.body).at(2).at("delivery_id") == "c-1/orders/3/2");
  CHECK(offsets_in(requests.back()) == std::vector<std::int64_t>{3, 4, 5});
}

namespace {

/// The calls that the breaker counts, once the tasks have ended.
struct Counted {
  std::uint32_t done = 0;
  std::uint32_t failed = 0;
};
Counted counted(Runs& runs, std::size_t tasks) {
  Counted calls;
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto& result = runs[i].result();
    calls.done += result.done - result.same_call;
    for (const auto& failure : result.failures) calls.failed += failure.outcome.same_call ? 0U : 1U;
  }
  return calls;
}

}  // namespace

TEST_CASE("a request is one call, however many records it carries") {
  std::atomic<int> status{502};
  HttpServer server([&](const auto&, auto& response) { response.status = status; });
  for (const int each : {502, 500, 422, 200}) {
    INFO(each);
    status = each;
    const auto handler = made(batches(server.url(), 3));
    Runs runs(*handler, 6);
    const auto calls = counted(runs, 6);
    CHECK(calls.done == (each == 200 ? 2 : 0));
    CHECK(calls.failed == (each == 200 ? 0U : each == 422 ? 6U : 2U));  // rejected ones are sent again alone
  }
}

TEST_CASE("a request counts as answered if the service answers for one of its records") {
  HttpServer server([&](const auto&, auto& response) {
    response.set_content(R"([{"outcome":"unavailable"},{"outcome":"done"},{"outcome":"unavailable"}])",
                         "application/json");
  });
  const auto handler = made(batches(server.url(), 3));
  Runs runs(*handler, 3);
  const auto calls = counted(runs, 3);
  CHECK(calls.done == 1);
  CHECK(calls.failed == 0);
}

TEST_CASE("a request that does not fill up is sent when its first record has waited long enough") {
  HttpServer server([](const auto&, auto&) {});
  auto settings = batches(server.url(), 1000);
  settings.batch.linger = milliseconds(20);
  settings.batch.format = config::BatchFormat::ndjson;
  const auto handler = made(settings);
  CHECK(Runs(*handler, 2).done() == 2);
  std::vector<std::int64_t> offsets;  // of one request, or of two where the second record came late
  for (const auto& request : server.requests()) {
    CHECK(request.get_header_value("Content-Type") == "application/x-ndjson");
    std::istringstream lines(request.body);
    for (std::string line; std::getline(lines, line);) offsets.push_back(json::parse(line).at("offset"));
  }
  std::sort(offsets.begin(), offsets.end());
  CHECK(offsets == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("a request that is large enough takes no more records") {
  HttpServer server([](const auto&, auto&) {});
  auto settings = batches(server.url(), 1000);
  settings.batch.bytes = 1;
  settings.batch.linger = milliseconds(1);
  const auto handler = made(settings);
  CHECK(Runs(*handler, 3).done() == 3);
  CHECK(server.requests().size() == 3);
}

TEST_CASE("each record has its own verdict") {
  HttpServer server([](const auto&, auto& response) {
    response.set_content(R"([{"outcome":"done"},{"outcome":"reject","reason":"bad"},{"outcome":"retry"}])",
                         "application/json");
  });
  const auto handler = made(batches(server.url(), 3));
  Runs runs(*handler, 3);
  CHECK(runs.done() == 1);
  CHECK(runs.failure(1).verdict == Verdict::reject);
  CHECK(runs.failure(1).reason == "bad");
  CHECK(runs.failure(2).verdict == Verdict::retry);
}

TEST_CASE("the records of a rejected request are sent again singly, and their own answers count") {
  std::atomic<bool> all_are_first{true};
  HttpServer server([&](const auto& request, auto& response) {
    for (const auto& record : json::parse(request.body)) {
      if (record.at("offset") == 1) response.status = 422;
      if (record.at("attempt") != 1) all_are_first = false;
    }
  });
  const auto handler = made(batches(server.url(), 3));
  Runs runs(*handler, 3);
  CHECK(runs.done() == 2);
  CHECK(runs.failure(1).verdict == Verdict::reject);
  CHECK_FALSE(runs.failure(1).same_call);
  CHECK(all_are_first);
  CHECK(server.requests().size() == 4);
}

TEST_CASE("a record that failed is sent alone, unless the service was unavailable") {
  for (const bool unavailable : {false, true}) {
    HttpServer server([](const auto&, auto&) {});
    const auto handler = made(batches(server.url(), 2));
    std::vector<std::unique_ptr<Run>> runs;
    for (int i = 0; i < 2; ++i) {
      runs.push_back(std::make_unique<Run>(one(record_data(i, "v"))));
      runs.back()->failed_before(unavailable);
      handler->handle(runs.back()->task());
    }
    for (const auto& run : runs) CHECK(run->result().done == 1);
    CHECK(server.requests().size() == (unavailable ? 1 : 2));
  }
}

TEST_CASE("a list that rejects all records is a verdict on each record") {
  HttpServer server([](const auto&, auto& response) {
    response.set_content(R"([{"outcome":"reject"},{"outcome":"reject"}])", "application/json");
  });
  const auto handler = made(batches(server.url(), 2));
  Runs runs(*handler, 2);
  CHECK(runs.done() == 0);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("verdicts are read even if the service compresses its answer") {
  using namespace std::string_literals;
  // gzip of [{"outcome":"done"},{"outcome":"retry","reason":"locked"}]
  const std::string compressed =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x8b\xae\x56\xca\x2f\x2d\x49\xce\xcf\x4d"
      "\x55\xb2\x52\x4a\xc9\xcf\x4b\x55\xaa\xd5\x41\x16\x2a\x4a\x2d\x29\xaa\x54\xd2\x01"
      "\xd2\x89\xc5\xf9\x79\x40\x81\x9c\xfc\xe4\xec\xd4\x14\xa5\xda\x58\x00\x74\x2c\xac"
      "\x11\x3a\x00\x00\x00"s;
  std::atomic<bool> wants_plain{false};
  RawServer server([&](Connection& connection) {
    wants_plain = connection.read_request().find("Accept-Encoding: identity\r\n") != std::string::npos;
    connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                     std::to_string(compressed.size()) + "\r\n\r\n" + compressed);
    connection.read_request();  // until the client hangs up
  });
  const auto handler = made(batches(server.url(), 2));
  Runs runs(*handler, 2);
  CHECK(runs.done() == 1);
  CHECK(runs.failure(1).reason == "locked");
  CHECK(wants_plain);
}

TEST_CASE("an answer has room for as many verdicts as records") {
  constexpr int count = 2000;
  json list = json::array();
  for (int i = 0; i < count; ++i)
    list.push_back({{"outcome", i % 2 == 0 ? "done" : "retry"}, {"reason", std::string(100, 'r')}});
  HttpServer server(
      [&](const auto&, auto& response) { response.set_content(list.dump(), "application/json"); });
  const auto handler = made(batches(server.url(), count));
  CHECK(Runs(*handler, count).done() == count / 2);
}

TEST_CASE("one request never has two records of one key") {
  HttpServer server([](const auto&, auto&) {});
  auto settings = batches(server.url(), 100);
  settings.batch.linger = milliseconds(1);
  const auto handler = made(settings);
  std::vector<kafka::RecordData> records;
  for (int i = 0; i < 5; ++i) records.push_back(record_data(i, "v", "k"));
  Run run(std::move(records), true);
  handler->handle(run.task());
  CHECK(run.result().done == 5);
  std::vector<std::int64_t> sent;
  for (const auto& request : server.requests()) {
    REQUIRE(offsets_in(request).size() == 1);
    sent.push_back(offsets_in(request)[0]);
  }
  CHECK(sent == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a retried record is sent at once, in a request of its own") {
  HttpServer server([](const auto&, auto&) {});
  const auto handler = made(batches(server.url(), 3));
  Runs again(*handler, 2, 2);
  CHECK(again.done() == 2);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a stopped record leaves its request, which goes on for the others") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.read_request();  // until the client hangs up
  });
  auto handler = made(batches(server.url(), 2));
  Runs runs(*handler, 2);
  while (server.connections() == 0) std::this_thread::yield();
  runs[0].stop();
  REQUIRE(runs[0].result().failures.size() == 1);
  CHECK(runs.failure(0).cause == Cause::timeout);
  CHECK_FALSE(runs[1].ended());
  runs[1].stop();
  CHECK(runs.failure(1).cause == Cause::timeout);
  CHECK(runs.failure(0).same_call);  // the request went on
  CHECK_FALSE(runs.failure(1).same_call);
}

TEST_CASE("a record that is stopped while another one is answered ends its request, too") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.read_request();  // until the client hangs up
  });
  const auto handler = made(batches(server.url(), 2));
  Run first(one(record_data(0, "v")));
  Run second(one(record_data(1, "v")));
  first.when_finished([&] { second.stop(); });
  handler->handle(first.task());
  handler->handle(second.task());
  while (server.connections() == 0) std::this_thread::yield();
  first.stop();
  CHECK(second.result().failures.at(0).outcome.cause == Cause::timeout);
  CHECK(first.result().failures.at(0).outcome.same_call);
  CHECK_FALSE(second.result().failures.at(0).outcome.same_call);
}
