// handler.http.statuses.
#include "catch.h"
#include "config/loaded.h"
#include "config/output/print.h"

using namespace laneway;
using namespace laneway::config;

namespace {

std::string with_statuses(const std::string& statuses) {
  return "kafka: { bootstrap.servers: \"b:9092\", group.id: g }\ntopics: [orders]\nhandler:\n  http:\n    "
         "url: http://127.0.0.1/\n    statuses: " +
         statuses + "\n";
}

}  // namespace

TEST_CASE("a status or a class of statuses gets a verdict") {
  const auto result = loaded(with_statuses("{ 404: reject, \"409\": done, 5xx: retry, 503: unavailable }"));
  REQUIRE(report(result.errors) == "");
  const StatusVerdicts expected = {{5, StatusVerdict::retry},
                                   {404, StatusVerdict::reject},
                                   {409, StatusVerdict::done},
                                   {503, StatusVerdict::unavailable}};
  CHECK(std::get<HttpSettings>(result.config->handler).statuses == expected);
}

TEST_CASE("printed statuses can be read again") {
  const auto first = loaded(with_statuses("{ \"404\": reject, 1xx: retry, 5xx: unavailable, 200: done }"));
  REQUIRE(first.config);
  const auto text = print(*first.config);
  INFO(text);
  CHECK(text.find("statuses: { 1xx: retry, 5xx: unavailable, 200: done, 404: reject }") != std::string::npos);
}

TEST_CASE("a wrong status or verdict is an error with its place and the allowed words") {
  const auto says = [](const std::string& statuses, const std::string& expected) {
    const auto errors = errors_of(with_statuses(statuses));
    INFO(errors);
    return errors.starts_with("f.yaml:6:") && errors.find("handler.http.statuses: ") != std::string::npos &&
           errors.find(expected) != std::string::npos;
  };
  for (const std::string key :
       {"99", "600", "0xx", "6xx", "4x", "4XX", "xx", "40x", "4044", "teapot", "-404"})
    CHECK(says("{ \"" + key + "\": done }",
               "a key must be a status from 100 to 599, or a class from 1xx to 5xx"));
  for (const std::string verdict : {"ok", "DONE", "[done]", "~"})
    CHECK(says("{ 404: " + verdict + " }",
               "the verdict on 404 must be one of done, retry, reject, unavailable"));
  CHECK(says("{ 5xx: maybe }", "the verdict on 5xx must be one of"));
  CHECK(says("[404]", "a map of statuses"));
}

TEST_CASE("the error for a misspelt status names the status that is meant") {
  const auto error = [](const std::string& key) {
    return errors_of(with_statuses("{ 503: retry, \"" + key + "\": reject }"));
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0404", "404"}, {"00404", "404"}, {" 404", "404"}, {"404 ", "404"}, {"4xxx", "4xx"},
      {"4XX", "4xx"},  {"4x", "4xx"},    {"40x", "4xx"},  {"4**", "4xx"},  {" 5xx", "5xx"}};
  for (const auto& [key, near] : cases) {
    INFO(error(key));
    CHECK(error(key).starts_with("f.yaml:6:29: handler.http.statuses: found \"" + key + "\": "));
    CHECK(error(key).find("from 1xx to 5xx; did you mean \"" + near + "\"? (expected") != std::string::npos);
  }
  for (const std::string key : {"99", "099", "600", "6xx", "0", " ", "", "x", "teapot", "x04"}) {
    INFO(error(key));
    CHECK(error(key).starts_with("f.yaml:6:29: handler.http.statuses: found "));
    CHECK(error(key).find("did you mean") == std::string::npos);
  }
}

TEST_CASE("a status of success can get any verdict") {
  const auto result = loaded(with_statuses("{ 202: retry, 204: reject, 2xx: done }"));
  REQUIRE(report(result.errors) == "");
  const StatusVerdicts expected = {
      {2, StatusVerdict::done}, {202, StatusVerdict::retry}, {204, StatusVerdict::reject}};
  CHECK(std::get<HttpSettings>(result.config->handler).statuses == expected);
}
