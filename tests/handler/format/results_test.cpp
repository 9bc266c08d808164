#include "handler/format/results.h"

#include <nlohmann/json.hpp>

#include "catch.h"
#include "handler/format/record_json.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

const kafka::Record whole(record_data(1, "the record's"));

Parts read(const std::string& text) {
  const auto parts = results_of_json(nlohmann::json::parse(text), whole, text);
  INFO(text);
  REQUIRE(parts.ok());
  return **parts;
}

std::string refused_results(const std::string& text) {
  const auto parts = results_of_json(nlohmann::json::parse(text), whole, text);
  INFO(text);
  REQUIRE_FALSE(parts.ok());
  return parts.error().message;
}

Parts with_ids(const std::vector<std::string>& ids) {
  Parts parts;
  for (const auto& id : ids) parts.push_back({id, {}, {}, {}});
  return parts;
}

}  // namespace

TEST_CASE("a list of results in JSON has ids, keys, values and headers") {
  const auto parts = read(R"([{"id":"small","key":"k","value":"v","headers":[["a","1"],["b",null]]},
                              {"id":"null","key":null,"value":null}, {"more":1}])");
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].id == "small");
  CHECK(parts[0].key == "k");
  CHECK(parts[0].value == "v");
  REQUIRE(parts[0].headers.size() == 2);
  CHECK(parts[0].headers[0] == std::pair<std::string, std::optional<std::string>>("a", "1"));
  CHECK(parts[0].headers[1].second == std::nullopt);
  CHECK(parts[1].key == std::nullopt);
  CHECK(parts[1].value == std::nullopt);
  CHECK(parts[2].id.empty());
  CHECK(parts[2].value == "the record's");
  CHECK(read("[]").empty());
}

TEST_CASE("a base64 result gives bytes, also in its headers") {
  const auto parts = read(R"([{"key":"AAE=","value":"/+8=","headers":[["h","AA=="]],"base64":true},
                              {"value":"/+8=","base64":false}])");
  CHECK(parts[0].key == std::string("\x00\x01", 2));
  CHECK(parts[0].value == "\xff\xef");
  CHECK(parts[0].headers[0].second == std::string(1, '\0'));
  CHECK(parts[1].value == "/+8=");
  CHECK(refused_results(R"([{"value":"no base64","base64":true}])")
            .starts_with("has a result with an invalid value"));
}

TEST_CASE("results that cannot be read are refused with the reason") {
  CHECK(refused_results(R"({})").starts_with("has results that are not a list"));
  CHECK(refused_results(R"([1])").starts_with("has a result that is not a JSON object"));
  CHECK(refused_results(R"([{"id":7}])").starts_with("has a result with an invalid id"));
  CHECK(refused_results(R"([{"key":7}])").starts_with("has a result with an invalid key"));
  CHECK(refused_results(R"([{"value":{}}])").starts_with("has a result with an invalid value"));
  CHECK(refused_results(R"([{"headers":{}}])").starts_with("has a result with an invalid headers"));
  for (const char* header : {"1", "[]", R"(["a"])", R"([1,"a"])", R"(["a",1])"})
    CHECK(
        refused_results("[{\"headers\":[" + std::string(header) + "]}]")
            .starts_with("has a result with an invalid header (expected a list of its name and its value)"));
}

TEST_CASE("the ids of results are text, short and unique") {
  CHECK(wrong_results(with_ids({"a", "b", ""})).empty());
  CHECK(wrong_results(with_ids({"a", "a"})) == "two results with the id a");
  CHECK(wrong_results(with_ids({"1", ""})) == "two results with the id 1");
  CHECK(wrong_results(with_ids({"", ""})).empty());
  CHECK(wrong_results(with_ids({std::string(256, 'x')})).empty());
  CHECK(wrong_results(with_ids({std::string(257, 'x')})).starts_with("a result's id of 257 bytes"));
  CHECK(wrong_results(with_ids({"a\nb"})).starts_with("a result's id that is not text"));
  CHECK(wrong_results(with_ids({"\xff"})).starts_with("a result's id that is not text"));
  CHECK(wrong_results(with_ids({"a/b"})).starts_with("a result's id with a '/'"));
  CHECK(refused_results(R"([{"id":"a"},{"id":"a"}])") == "has two results with the id a");
}

TEST_CASE("the number and the size of a record's results are limited") {
  CHECK(wrong_results(Parts(most_results)).empty());
  CHECK(wrong_results(Parts(most_results + 1)).starts_with("10001 results"));
  Parts large(1);
  large[0].value = std::string(largest_results, 'x');
  CHECK(wrong_results(large).empty());
  large[0].headers.emplace_back("x", std::nullopt);
  CHECK(wrong_results(large).starts_with("results of 16777217 bytes"));
}

TEST_CASE("copies of a large record are limited") {
  const kafka::Record large(record_data(1, std::string(1 << 20, 'x')));
  nlohmann::json many = nlohmann::json::array();
  for (int i = 0; i < 5000; ++i) many.push_back(nlohmann::json::object());
  const auto parts = results_of_json(many, large, "");
  REQUIRE_FALSE(parts.ok());
  CHECK(parts.error().message.starts_with("has results of 17825792 bytes"));
}

TEST_CASE("the record of a sub-job names the sub-job, and has its own delivery id") {
  const kafka::Record record(record_data(42, "v"));
  StopState running;
  const StopToken stop{&running, 1};
  const Attempt attempt{record, 1, stop, nullptr, nullptr, "c", "a \"b\""};
  const auto json = nlohmann::json::parse(record_json(attempt));
  CHECK(json["part"] == "a \"b\"");
  CHECK(json["delivery_id"] == "c/orders/3/42/a%20%22b%22");
  CHECK_FALSE(nlohmann::json::parse(record_json({record, 1, stop})).contains("part"));
}
