// What a batch's body is, and what an answer to it means for each of its records.
#include <rapidcheck.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "handler/http/http_batch.h"

using namespace laneway;
using namespace laneway::handler;
using nlohmann::json;

namespace {

std::vector<Outcome> verdicts(const std::string& body, std::size_t records = 2, int status = 200,
                              config::StatusVerdicts statuses = {}) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = body;
  return batch_verdicts(answer, records, "shop:80", {seconds(60), std::move(statuses)});
}

bool all_are(const std::vector<Outcome>& outcomes, Verdict verdict, std::size_t records = 2) {
  return outcomes.size() == records && std::all_of(outcomes.begin(), outcomes.end(),
                                                   [&](const auto& each) { return each.verdict == verdict; });
}

}  // namespace

TEST_CASE("a body is a JSON array, or a line for each record") {
  const auto array = batch_body(config::BatchFormat::json, {R"({"a":1})", R"({"a":2})"});
  CHECK(json::parse(array) == json::parse(R"([{"a":1},{"a":2}])"));
  CHECK(batch_body(config::BatchFormat::ndjson, {R"({"a":1})", R"({"a":2})"}) == "{\"a\":1}\n{\"a\":2}\n");
}

TEST_CASE("an answer of 2xx is done for all records, unless it lists verdicts") {
  for (const auto* body : {"", " \n", "ok", "<html>[", R"({"status":"ok"})", "[1,2,3]", R"([{"id":1}])",
                           "{oops", "{\n\"id\": 1\n}"})
    CHECK(all_are(verdicts(body), Verdict::done));
}

TEST_CASE("a list of verdicts decides record by record") {
  for (const std::string body :
       {R"([{"outcome":"done"},{"outcome":"retry","reason":"locked","after":"5s"}])",
        "\n[\n {\"outcome\": \"done\"},\n {\"outcome\": \"retry\", \"reason\": \"locked\", \"after\": "
        "\"5s\"}\n]\n",
        "{\"outcome\":\"done\"}\n{\"outcome\":\"retry\",\"reason\":\"locked\",\"after\":\"5s\"}\n",
        "{\"outcome\":\"done\"}\r\n\r\n{\"outcome\":\"retry\",\"reason\":\"locked\",\"after\":\"5s\"}",
        "\xEF\xBB\xBF[{\"outcome\":\"done\"},{\"outcome\":\"retry\",\"reason\":\"locked\",\"after\":\"5s\"}"
        "]"}) {
    const auto outcomes = verdicts(body);
    REQUIRE(outcomes.size() == 2);
    CHECK(outcomes[0].verdict == Verdict::done);
    CHECK(outcomes[1].verdict == Verdict::retry);
    CHECK(outcomes[1].reason == "locked");
    CHECK(outcomes[1].after == Duration(seconds(5)));
  }
  CHECK(all_are(verdicts("{\n\"outcome\": \"reject\"\n}", 1), Verdict::reject, 1));
}

TEST_CASE("a list that does not fit its request is a retry for all records, with the reason") {
  const auto reason = [](const std::string& body) {
    const auto outcomes = verdicts(body);
    CHECK(all_are(outcomes, Verdict::retry));
    return outcomes.front().reason;
  };
  CHECK(reason(R"([{"outcome":"done"}])") == "the answer of shop:80 has 1 verdicts for 2 records");
  CHECK(reason("{\"outcome\":\"done\"}") == "the answer of shop:80 has 1 verdicts for 2 records");
  CHECK(reason("[]") == "the answer of shop:80 has 0 verdicts for 2 records");
  CHECK(reason(R"([{"outcome":"done"},)").find("is not JSON") != std::string::npos);
  CHECK(reason(R"([{"outcome":"done"},7])").find("not a JSON object") != std::string::npos);
  CHECK(reason(R"([{"outcome":"done"},{}])").find("has no outcome") != std::string::npos);
  CHECK(reason(R"([{"outcome":"done"},{"outcome":"maybe"}])").find("an invalid outcome") !=
        std::string::npos);
  CHECK(reason("{\"outcome\":\"done\"}\n{\"outcome").find("not a JSON object") != std::string::npos);
}

TEST_CASE("a list that was cut is a retry, but another long answer is not") {
  HttpAnswer answer;
  answer.status = 200;
  answer.cut = true;
  answer.body = R"([{"outcome":"done"},{"outcome":"done"}])";
  CHECK(all_are(batch_verdicts(answer, 2, "shop:80", {seconds(60)}), Verdict::retry));
  answer.body = "<html>";
  CHECK(all_are(batch_verdicts(answer, 2, "shop:80", {seconds(60)}), Verdict::done));
}

TEST_CASE("an answer that lists what was created is done for all records, however long") {
  json created = json::array();
  for (int i = 0; i < 1000; ++i)
    created.push_back({{"id", i}, {"of", {{"outcome", "other"}}}, {"tags", {"outcome"}}, {"text", "\u20ac"}});
  const auto array = created.dump();
  std::string lines;
  for (const auto& each : created) lines += each.dump() + '\n';
  const auto large = json::array({{{"before", std::string(10'000, 'x')}, {"outcome", "done"}}}).dump();
  HttpAnswer answer;
  answer.status = 201;
  answer.cut = true;
  for (const auto& [text, size] :
       {std::pair(array, std::size_t{20'000}), std::pair(array, std::size_t{10}),
        std::pair(lines, std::size_t{20'000}), std::pair(large, std::size_t{5'000})}) {
    answer.body = text.substr(0, size);
    INFO(answer.body.substr(0, 40) << " " << size);
    CHECK(all_are(batch_verdicts(answer, 2, "shop:80", {seconds(60)}), Verdict::done));
  }
  CHECK(all_are(verdicts(array), Verdict::done));
  CHECK(all_are(verdicts("[created] 2 orders"), Verdict::done));
}

TEST_CASE("verdicts that cannot be read never count as done") {
  for (const auto* body : {"[{'outcome': 'done'}, {'outcome': 'retry'}]", "[{\"outcome\":\"done", "[{\"outc",
                           "{\"outcome\": \"done\"", "{\"outcome\"}", "[{\"outcome\":\"done\"}} ]"})
    CHECK(all_are(verdicts(body), Verdict::retry));
}

TEST_CASE("an answer with deep nesting uses no stack") {
  const std::string open(130'000, '['), close(130'000, ']');
  const std::string deep = open + close;
  std::string objects;
  for (int i = 0; i < 130'000; ++i) objects += "{\"a\":";
  CHECK(all_are(verdicts(deep), Verdict::done));
  CHECK(all_are(verdicts("{\"a\":" + deep + "}"), Verdict::done));
  CHECK(all_are(verdicts("[" + objects + "1" + std::string(130'000, '}') + "]"), Verdict::done));
  for (const auto& value : {deep, objects + "1" + std::string(130'000, '}')}) {
    const auto verdict = "{\"outcome\":\"done\",\"of\":" + value + "}";
    CHECK(all_are(verdicts("[" + verdict + "," + verdict + "]"), Verdict::retry));
    CHECK(all_are(verdicts(verdict + "\n" + verdict), Verdict::retry));
    CHECK(all_are(verdicts(verdict, 1), Verdict::retry, 1));
  }
}

TEST_CASE("a status other than 2xx applies to all records") {
  const std::string list = R"([{"outcome":"done"},{"outcome":"done"}])";
  CHECK(all_are(verdicts(list, 2, 500), Verdict::retry));
  CHECK(all_are(verdicts(list, 2, 503), Verdict::unavailable));
  CHECK(all_are(verdicts(list, 1, 422), Verdict::reject, 1));
}

TEST_CASE("a configured verdict of a status applies to all records") {
  using config::StatusVerdict;
  CHECK(all_are(verdicts("", 2, 409, {{409, StatusVerdict::done}}), Verdict::done));
  CHECK(all_are(verdicts("", 2, 500, {{5, StatusVerdict::unavailable}}), Verdict::unavailable));
  CHECK(all_are(verdicts("", 1, 404, {{404, StatusVerdict::reject}}), Verdict::reject, 1));
}

TEST_CASE("any body gives as many verdicts as records") {
  REQUIRE(rc::check([](const std::string& body, std::uint8_t records) {
    RC_ASSERT(verdicts(body, records + 1U).size() == records + 1U);
    RC_ASSERT(verdicts("[" + body, records + 1U).size() == records + 1U);
    RC_ASSERT(verdicts("{" + body, records + 1U).size() == records + 1U);
  }));
}
