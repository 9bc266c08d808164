#include "handler/http_answer.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

HttpAnswer status(int code) {
  HttpAnswer answer;
  answer.status = code;
  return answer;
}

Outcome verdict(const HttpAnswer& answer) { return verdict_of(answer, "shop:80", seconds(60)); }

HttpAnswer failed(Transport transport) {
  HttpAnswer answer;
  answer.transport = transport;
  answer.problem = "the library's words";
  return answer;
}

}  // namespace

TEST_CASE("each status has its verdict") {
  for (const int code : {200, 201, 202, 204, 206, 299}) CHECK(verdict(status(code)).verdict == Verdict::done);
  for (const int code : {408, 429, 500, 501, 505, 507, 599})
    CHECK(verdict(status(code)).verdict == Verdict::retry);
  for (const int code : {502, 503, 504}) CHECK(verdict(status(code)).verdict == Verdict::unavailable);
  for (const int code : {400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 431})
    CHECK(verdict(status(code)).verdict == Verdict::reject);
  for (const int code : {300, 301, 302, 303, 304, 307, 308})
    CHECK(verdict(status(code)).verdict == Verdict::reject);
  for (const int code : {0, 101, 999}) CHECK(verdict(status(code)).verdict == Verdict::retry);
}

TEST_CASE("each way to get no answer has its verdict and cause") {
  CHECK(verdict(failed(Transport::not_connected)).verdict == Verdict::unavailable);
  CHECK(verdict(failed(Transport::broken)).verdict == Verdict::retry);
  CHECK(verdict(failed(Transport::broken)).cause == Cause::verdict);
  CHECK(verdict(failed(Transport::stale)).verdict == Verdict::retry);
  CHECK(verdict(failed(Transport::stale)).after == Duration::zero());
  auto unanswered = failed(Transport::timed_out);
  unanswered.sent = true;
  CHECK(verdict(unanswered).verdict == Verdict::retry);
  CHECK(verdict(unanswered).cause == Cause::timeout);
  CHECK(verdict(failed(Transport::timed_out)).verdict == Verdict::unavailable);
  CHECK(verdict(failed(Transport::timed_out)).cause == Cause::verdict);
  CHECK(verdict(failed(Transport::stopped)).verdict == Verdict::retry);
}

TEST_CASE("a broken answer is a retry whatever status it began with") {
  auto answer = failed(Transport::broken);
  answer.status = 200;
  CHECK(verdict(answer).verdict == Verdict::retry);
}

TEST_CASE("Retry-After counts for 429 and 503 alone, up to the cap") {
  for (const int code : {429, 503}) {
    auto answer = status(code);
    answer.retry_after = seconds(5);
    CHECK(verdict(answer).after == Duration(seconds(5)));
    answer.retry_after = std::chrono::hours(2);
    CHECK(verdict(answer).after == Duration(seconds(60)));
  }
  for (const int code : {408, 500, 502, 504}) {
    auto answer = status(code);
    answer.retry_after = seconds(5);
    CHECK_FALSE(verdict(answer).after.has_value());
  }
}

TEST_CASE("the reason holds status, server and the beginning of the answer, cleaned") {
  auto answer = status(422);
  answer.body = "no such\n\x1b[31mfield";
  CHECK(verdict(answer).reason == "HTTP 422 from shop:80: no such\\n\\x1b[31mfield");
  answer.body = std::string(1000, 'a');
  CHECK(verdict(answer).reason == "HTTP 422 from shop:80: " + std::string(200, 'a') + "...");
}

TEST_CASE("a redirect's reason names where to and what to do") {
  auto answer = status(308);
  answer.location = "https://shop/new";
  CHECK(verdict(answer).reason ==
        "HTTP 308 from shop:80: redirected to https://shop/new; redirects are not followed, set "
        "handler.http.url to the "
        "final address");
}

TEST_CASE("the reason without an answer says what was being done") {
  CHECK(verdict(failed(Transport::not_connected)).reason == "cannot reach shop:80: the library's words");
  auto answer = failed(Transport::timed_out);
  CHECK(verdict(answer).reason == "no connection to shop:80 in time: the library's words");
  answer.sent = true;
  CHECK(verdict(answer).reason == "no complete answer from shop:80 in time: the library's words");
}
