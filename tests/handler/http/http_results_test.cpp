#include "handler/http/http_results.h"

#include "catch.h"
#include "handler/format/results.h"
#include "handler/http/http.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

const kafka::Record asked(record_data(1, "v"));

Outcome judged(HttpAnswer answer) {
  const auto outcome = verdict_of(answer, "shop:80", {seconds(1), {{409, config::StatusVerdict::done}}});
  return with_results(outcome, answer, asked, "shop:80");
}

HttpAnswer answer_of(int status, std::string body, std::string content_type = "") {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.content_type = std::move(content_type);
  return answer;
}

std::unique_ptr<Handler> passing_on(const config::HttpSettings& settings) {
  auto config = config_with(settings);
  config.pools.resize(1);
  config.pools.front().then = "next";
  auto handler = make_handler(config);
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

/// A run over one record with another pool next, as it was answered.
std::unique_ptr<Run> run_on(Handler& handler, const std::string& part = "") {
  auto run = std::make_unique<Run>(one(record_data(1, "v")));
  run->pass_on();
  if (!part.empty()) run->is_part(part);
  handler.handle(run->task());
  run->result();
  return run;
}

}  // namespace

TEST_CASE("the body of an answer is the next value") {
  const auto outcome = judged(answer_of(200, "next\n", "text/plain"));
  REQUIRE(outcome.parts);
  REQUIRE(outcome.parts->size() == 1);
  CHECK(outcome.parts->front().value == "next\n");
  CHECK(outcome.parts->front().id.empty());
}

TEST_CASE("an answer without a body passes the record on, and so does any status configured as done") {
  CHECK(judged(answer_of(204, "")).parts == nullptr);
  CHECK(judged(answer_of(200, "")).parts == nullptr);
  const auto conflict = judged(answer_of(409, "it is there already"));
  CHECK(conflict.verdict == Verdict::done);
  CHECK(conflict.parts == nullptr);
  CHECK(judged(answer_of(500, "broken")).verdict == Verdict::retry);
}

TEST_CASE("a list of results has its own media type") {
  for (const char* type :
       {"application/vnd.laneway.results+json", "Application/Vnd.Laneway.Results+JSON ; charset=utf-8"}) {
    const auto outcome = judged(answer_of(200, R"([{"id":"a","value":"1"},{"id":"b"}])", type));
    REQUIRE(outcome.parts);
    REQUIRE(outcome.parts->size() == 2);
    CHECK(outcome.parts->at(1).value == "v");
  }
  const auto plain = judged(answer_of(200, "[]", "application/json"));
  CHECK(plain.parts->front().value == "[]");
  CHECK(judged(answer_of(200, "[]", std::string(results_media_type))).parts->empty());
}

TEST_CASE("a list of results that cannot be read is a retry, and a body that is too long is a rejection") {
  const auto broken = judged(answer_of(200, "[{", std::string(results_media_type)));
  CHECK(broken.verdict == Verdict::retry);
  CHECK(broken.reason == "the answer of shop:80 is not JSON: [{");
  const auto wrong = judged(answer_of(200, "{}", std::string(results_media_type)));
  CHECK(wrong.reason == "the answer of shop:80 has results that are not a list: {}");
  auto cut = answer_of(200, "x");
  cut.cut = true;
  CHECK(judged(cut).verdict == Verdict::reject);
}

TEST_CASE("results arrive from a real server byte for byte, and requests name the sub-job") {
  const std::string body = std::string(1 << 20, 'x') + std::string("\0\xff", 2);
  HttpServer server([&](const auto&, auto& response) { response.set_content(body, "image/png"); });
  const auto handler = passing_on(settings_for(server.url()));
  const auto run = run_on(*handler, "large one");
  REQUIRE(run->results(0));
  CHECK(run->results(0)->front().value == body);
  // The server's library has decoded them.
  CHECK(server.requests().front().get_header_value("Laneway-Part") == "large one");
  CHECK(server.requests().front().get_header_value("Laneway-Delivery-Id") == "c-1/orders/3/1/large one");
}

TEST_CASE("a result that is larger than a pool accepts is rejected, and the largest allowed one is not") {
  std::size_t size = largest_results;
  HttpServer server(
      [&](const auto&, auto& response) { response.set_content(std::string(size, 'x'), "image/png"); });
  const auto handler = passing_on(settings_for(server.url()));
  const auto fits = run_on(*handler);
  REQUIRE(fits->results(0));
  CHECK(fits->results(0)->front().value->size() == largest_results);
  ++size;
  const auto outcome = run_on(*handler)->result().failures.at(0).outcome;
  CHECK(outcome.verdict == Verdict::reject);
  CHECK(outcome.reason.find("is longer than the 16777216 bytes") != std::string::npos);
}

TEST_CASE("without another pool, the body is not read") {
  HttpServer server([](const auto&, auto& response) { response.set_content("[{", "application/json"); });
  auto run = Run(one(record_data(1, "v")));
  const auto handler = made(server.url());
  handler->handle(run.task());
  CHECK(run.result().done == 1);
  CHECK(run.outcomes().front().parts == nullptr);
}

TEST_CASE("the verdicts of a batch may have results") {
  auto settings = settings_for("");
  settings.batch.records = 2;
  HttpServer server([](const auto&, auto& response) {
    response.set_content(R"([{"outcome":"done","results":[{"id":"a","value":"1"}]},{"outcome":"done"}])",
                         "application/json");
  });
  settings.url = server.url();
  settings.batch.linger = seconds(60);
  const auto handler = passing_on(settings);
  Run first(one(record_data(1, "v")));
  Run second(one(record_data(2, "w")));
  first.pass_on();
  second.pass_on();
  handler->handle(first.task());
  handler->handle(second.task());
  REQUIRE(first.result().done == 1);
  REQUIRE(second.result().done == 1);
  REQUIRE(first.results(0));
  CHECK(first.results(0)->front().value == "1");
  CHECK(second.results(0) == nullptr);
}
