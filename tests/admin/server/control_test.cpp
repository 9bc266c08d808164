// Requests that change something: who may, and how they are read.
#include <rapidcheck.h>

#include "admin/identity/authorization.h"
#include "admin/server/control_request.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::admin;
using Action = service::ControlRequest::Action;

namespace {

using Query = std::multimap<std::string, std::string>;

service::ControlRequest request(const std::string& path, const Query& query = {},
                                const std::string& body = {}) {
  const auto parsed = parse_control(path, query, body);
  REQUIRE(std::holds_alternative<service::ControlRequest>(parsed));
  return std::get<service::ControlRequest>(parsed);
}

/// Of the refusal; 0: it is taken.
int refused(const std::string& path, const Query& query = {}, const std::string& body = {}) {
  const auto parsed = parse_control(path, query, body);
  const auto* refusal = std::get_if<Refusal>(&parsed);
  if (refusal == nullptr) return 0;
  CHECK_FALSE(refusal->text.empty());
  return refusal->status;
}

int status_of(const std::optional<Refusal>& refusal) { return refusal ? refusal->status : 0; }

}  // namespace

TEST_CASE("with a token, only a caller that knows the token may change something, on any address") {
  for (const bool loopback : {true, false}) {
    const Access access{"secret-token", loopback};
    CHECK(status_of(refuse_change(access, {"Bearer secret-token", "", ""})) == 0);
    CHECK(status_of(refuse_change(access, {"bearer secret-token", "", ""})) == 0);
    for (const auto* wrong :
         {"", "Bearer ", "Bearer", "secret-token", "Bearer secret-toke", "Bearer secret-tokenn",
          "Bearer Secret-token", "Basic secret-token", "Bearer secret-token "})
      CHECK(status_of(refuse_change(access, {wrong, "application/json", "1"})) == 401);
  }
}

TEST_CASE("without a token, a loopback address and a header that no web page can set permit a change") {
  const Access access{"", true};
  CHECK(status_of(refuse_change(access, {"", "", "1"})) == 0);
  CHECK(status_of(refuse_change(access, {"", "application/json", ""})) == 0);
  CHECK(status_of(refuse_change(access, {"", "application/json; charset=utf-8", ""})) == 0);
  for (const auto* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"})
    CHECK(status_of(refuse_change(access, {"", type, ""})) == 403);
}

TEST_CASE("without a token, an address that others reach permits no change") {
  CHECK(status_of(refuse_change({"", false}, {"Bearer ", "application/json", "1"})) == 403);
}

TEST_CASE("an empty secret equals no secret") {
  CHECK_FALSE(same_secret("", ""));
  CHECK_FALSE(same_secret("", "a"));
  CHECK(same_secret("a", "a"));
  CHECK_FALSE(same_secret("ab", "a"));
  CHECK_FALSE(same_secret("a", "aa"));
}

TEST_CASE("a path names a lane, a topic or a record") {
  auto pause = request("/lanes/orders/3/pause");
  CHECK(pause.action == Action::suspend);
  CHECK(pause.topic == "orders");
  CHECK(pause.partition == 3);
  CHECK(request("/lanes/orders/3/suspend").action == Action::suspend);
  const auto resume = request("/lanes/3/resume");  // a topic may have such a name
  CHECK(resume.action == Action::resume);
  CHECK(resume.topic == "3");
  CHECK_FALSE(resume.partition);
  const auto skip = request("/lanes/orders/0/skip", {{"offset", "17"}, {"reason", "bad order"}});
  CHECK(skip.action == Action::skip);
  CHECK(skip.offset == 17);
  CHECK(skip.reason == "bad order");
}

TEST_CASE("parked records are sent on, or those of a pool or a subscriber are given up with a reason") {
  CHECK(request("/parked/send-on").action == Action::send_on);
  auto give_up = request("/parked/give-up", {{"pool", "send"}, {"subscriber", ""}, {"reason", "closed"}});
  CHECK(give_up.action == Action::give_up);
  CHECK(give_up.pool == "send");
  CHECK(give_up.subscriber == "");  // records without a text
  CHECK(give_up.reason == "closed");
  give_up = request("/parked/give-up", {}, R"({"pool": "send", "reason": "closed"})");
  CHECK_FALSE(give_up.subscriber);
  CHECK(refused("/parked/give-up", {{"pool", "send"}}) == 400);
  CHECK(refused("/parked/give-up", {{"reason", "closed"}}) == 400);
  CHECK(refused("/parked/give-up", {{"pool", "send"}, {"reason", std::string(501, 'r')}}) == 400);
  CHECK(refused("/parked/give-up", {{"pool", "send"}, {"reason", "r"}, {"offset", "1"}}) == 400);
  CHECK(refused("/parked/send-on", {{"pool", "send"}}) == 400);
  for (const auto* path : {"/parked/", "/parked", "/parked/skip", "/parked/send-on/"})
    CHECK(refused(path) == 404);
}

TEST_CASE("an offset and a reason may come as JSON") {
  const auto skip = request("/lanes/orders/0/skip", {}, R"({"offset": 17, "reason": "bad \"order\""})");
  CHECK(skip.offset == 17);
  CHECK(skip.reason == "bad \"order\"");
  CHECK(request("/lanes/orders/0/skip", {{"offset", "9223372036854775807"}}, R"({"reason": "x"})").offset ==
        9223372036854775807);
}

TEST_CASE("an unknown path answers 404") {
  for (const auto* path : {"/lanes/", "/lanes", "/lanes/orders", "/lanes/orders/3", "/lanes/orders/3/stop",
                           "/lanes/orders/3/pause/", "/lanes/orders/3/4/pause", "/lanes//3/pause",
                           "/lanes//pause", "/other/orders/3/pause", ""})
    CHECK(refused(path) == 404);
}

TEST_CASE("malformed numbers, a missing reason and unknown parameters are refused") {
  for (const auto* partition : {"-1", "x", "1x", "", "2147483648", "1.5", " 1", "+1", "0x1"})
    CHECK(refused(std::string("/lanes/orders/") + partition + "/pause") == 400);
  const std::string skip = "/lanes/orders/3/skip";
  for (const auto* offset : {"-1", "x", "", "9223372036854775808", "1e3"})
    CHECK(refused(skip, {{"offset", offset}, {"reason", "r"}}) == 400);
  CHECK(refused(skip, {{"reason", "r"}}) == 400);
  CHECK(refused(skip, {{"offset", "1"}}) == 400);
  CHECK(refused(skip, {{"offset", "1"}, {"reason", std::string(501, 'r')}}) == 400);
  CHECK(refused(skip, {{"offset", "1"}, {"offset", "2"}, {"reason", "r"}}) == 400);
  CHECK(refused(skip, {{"offset", "1"}, {"reason", "r"}}, R"({"offset": 1})") == 400);
  CHECK(refused(skip, {{"offset", "1"}, {"reason", "r"}, {"force", "1"}}) == 400);
  CHECK(refused("/lanes/orders/3/pause", {{"offset", "1"}}) == 400);
  CHECK(refused("/lanes/orders/skip", {{"offset", "1"}, {"reason", "r"}}) == 400);
}

TEST_CASE("a body that is not a flat JSON object is refused") {
  const std::string skip = "/lanes/orders/3/skip";
  for (const auto* body :
       {"{", "[]", "17", "null", R"({"offset": 1.5, "reason": "r"})", R"({"offset": [1], "reason": "r"})",
        R"({"offset": 1, "reason": null})", R"({"offset": 1, "reason": "r", "force": "1"})",
        R"({"offset": -1, "reason": "r"})", "offset=1&reason=r", "\xff"})
    CHECK(refused(skip, {}, body) == 400);
  CHECK(refused(skip, {}, std::string(8000, '[')) == 400);
}

TEST_CASE("every request is either read or refused with a message") {
  REQUIRE(rc::check(
      "control requests", [](const std::string& path, const std::string& value, const std::string& body) {
        const std::string target = "/lanes/" + path + "/3/skip";
        for (const auto& text : {path, target, std::string("/lanes/orders/3/skip")}) {
          const auto parsed = parse_control(text, {{"offset", value}, {"reason", value}}, body);
          if (const auto* refusal = std::get_if<Refusal>(&parsed))
            RC_ASSERT((refusal->status == 400 || refusal->status == 404) && !refusal->text.empty());
          else
            RC_ASSERT(std::get<service::ControlRequest>(parsed).offset >= 0);
        }
      }));
}
