#include "handler/http/http_answer.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

HttpAnswer status(int code) {
  HttpAnswer answer;
  answer.status = code;
  return answer;
}

Outcome verdict(const HttpAnswer& answer, config::StatusVerdicts statuses = {}) {
  return verdict_of(answer, "shop:80", {seconds(60), std::move(statuses)});
}

HttpAnswer failed(Transport transport) {
  HttpAnswer answer;
  answer.transport = transport;
  answer.problem = "the library's words";
  return answer;
}

}  // namespace

TEST_CASE("each status has its verdict") {
  for (const int code : {200, 201, 202, 204, 206, 299}) CHECK(verdict(status(code)).verdict == Verdict::done);
  for (const int code : {400, 409, 412, 413, 415, 422, 431, 451})
    CHECK(verdict(status(code)).verdict == Verdict::reject);
  for (const int code : {429, 502, 503, 504}) CHECK(verdict(status(code)).verdict == Verdict::unavailable);
  for (const int code : {401, 402, 403, 404, 405, 406, 407, 408, 410, 411, 414,
                         416, 417, 418, 421, 423, 424, 425, 426, 428, 499})
    CHECK(verdict(status(code)).verdict == Verdict::retry);
  for (const int code : {300, 301, 302, 303, 304, 307, 308})
    CHECK(verdict(status(code)).verdict == Verdict::retry);
  for (const int code : {500, 501, 505, 507, 599}) CHECK(verdict(status(code)).verdict == Verdict::retry);
  for (const int code : {0, 101, 999}) CHECK(verdict(status(code)).verdict == Verdict::retry);
}

TEST_CASE("only 429 means that the service gets too many calls") {
  CHECK(verdict(status(429)).cause == Cause::throttled);
  for (const int code : {400, 401, 408, 425, 500, 502, 503, 504})
    CHECK(verdict(status(code)).cause == Cause::verdict);
}

TEST_CASE("for a status of the endpoint or the credentials, the reason says what to check") {
  const auto ends = [](int code, const std::string& advice) {
    auto answer = status(code);
    answer.body = "no";
    INFO(verdict(answer).reason);
    return verdict(answer).reason == "HTTP " + std::to_string(code) + " from shop:80: no; " + advice;
  };
  for (const int code : {401, 403})
    CHECK(ends(code, "check the credentials in handler.http.authorization_file"));
  for (const int code : {404, 410}) CHECK(ends(code, "check the path in handler.http.url"));
  CHECK(ends(405, "check whether the path in handler.http.url accepts POST"));
  CHECK(ends(407, "check the user and password of the proxy in http_proxy or https_proxy"));
}

TEST_CASE("each kind of missing answer has its verdict and cause") {
  CHECK(verdict(failed(Transport::not_connected)).verdict == Verdict::unavailable);
  CHECK(verdict(failed(Transport::broken)).verdict == Verdict::retry);
  CHECK(verdict(failed(Transport::broken)).cause == Cause::verdict);
  auto unanswered = failed(Transport::timed_out);
  unanswered.sent = true;
  CHECK(verdict(unanswered).verdict == Verdict::retry);
  CHECK(verdict(unanswered).cause == Cause::timeout);
  CHECK(verdict(failed(Transport::timed_out)).verdict == Verdict::unavailable);
  CHECK(verdict(failed(Transport::timed_out)).cause == Cause::verdict);
  CHECK(verdict(failed(Transport::stopped)).verdict == Verdict::retry);
}

TEST_CASE("a broken answer is a retry, whatever its status") {
  auto answer = failed(Transport::broken);
  answer.status = 200;
  CHECK(verdict(answer).verdict == Verdict::retry);
}

TEST_CASE("Retry-After is used for 429 and for an unavailable service, up to the cap") {
  for (const int code : {429, 502, 503, 504}) {
    auto answer = status(code);
    answer.retry_after = seconds(5);
    CHECK(verdict(answer).after == Duration(seconds(5)));
    answer.retry_after = std::chrono::hours(2);
    CHECK(verdict(answer).after == Duration(seconds(60)));
  }
  for (const int code : {408, 413, 500}) {
    auto answer = status(code);
    answer.retry_after = seconds(5);
    CHECK_FALSE(verdict(answer).after.has_value());
  }
}

TEST_CASE("the reason has the status, the server and the cleaned beginning of the answer") {
  auto answer = status(422);
  answer.body = "no such\n\x1b[31mfield";
  CHECK(verdict(answer).reason == "HTTP 422 from shop:80: no such\\n\\x1b[31mfield");
  answer.body = std::string(1000, 'a');
  CHECK(verdict(answer).reason == "HTTP 422 from shop:80: " + std::string(200, 'a') + "...");
}

TEST_CASE("the reason for a redirect has the target and the remedy") {
  auto answer = status(308);
  answer.location = "https://shop/new";
  CHECK(verdict(answer).reason ==
        "HTTP 308 from shop:80: redirected to https://shop/new; redirects are not followed; set "
        "handler.http.url to the "
        "final address");
}

TEST_CASE("the reason for a missing answer has the step that failed") {
  CHECK(verdict(failed(Transport::not_connected)).reason == "no connection to shop:80: the library's words");
  auto answer = failed(Transport::timed_out);
  CHECK(verdict(answer).reason == "no connection to shop:80 in time: the library's words");
  answer.sent = true;
  CHECK(verdict(answer).reason == "no complete answer from shop:80 in time: the library's words");
}

TEST_CASE("a status can get another verdict, which takes precedence over that of its class") {
  using config::StatusVerdict;
  const config::StatusVerdicts statuses = {{4, StatusVerdict::retry},         {404, StatusVerdict::reject},
                                           {409, StatusVerdict::done},        {5, StatusVerdict::retry},
                                           {500, StatusVerdict::unavailable}, {204, StatusVerdict::reject}};
  const auto of = [&](int code) { return verdict(status(code), statuses).verdict; };
  CHECK(of(404) == Verdict::reject);
  CHECK(of(409) == Verdict::done);
  CHECK(of(422) == Verdict::retry);
  CHECK(of(429) == Verdict::retry);
  CHECK(of(500) == Verdict::unavailable);
  CHECK(of(503) == Verdict::retry);
  CHECK(of(204) == Verdict::reject);
  CHECK(of(200) == Verdict::done);
  CHECK(of(302) == Verdict::retry);
  CHECK(of(101) == Verdict::retry);
}

TEST_CASE("the cause and the delay of a status follow its configured verdict") {
  using config::StatusVerdict;
  const auto of = [](int code, StatusVerdict mapped) {
    auto answer = status(code);
    answer.retry_after = seconds(5);
    return verdict(answer, {{static_cast<std::uint16_t>(code), mapped}});
  };
  CHECK(of(429, StatusVerdict::unavailable).cause == Cause::throttled);
  CHECK(of(429, StatusVerdict::retry).cause == Cause::verdict);
  CHECK(of(429, StatusVerdict::retry).after == Duration(seconds(5)));
  CHECK_FALSE(of(429, StatusVerdict::reject).after);
  CHECK(of(420, StatusVerdict::unavailable).after == Duration(seconds(5)));
  CHECK(of(404, StatusVerdict::reject).reason == "HTTP 404 from shop:80");
  CHECK(of(409, StatusVerdict::done).reason.empty());
}
