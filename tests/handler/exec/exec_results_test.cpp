// The results of a real program for the pool that is next.
#include <nlohmann/json.hpp>

#include "handler/exec/exec.h"
#include "handler/format/results.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::unique_ptr<Handler> passing_on(const config::ExecSettings& settings) {
  auto config = config_with(settings);
  config.pools.resize(1);
  config.pools.front().then = "next";
  auto handler = make_handler(config);
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

std::vector<kafka::RecordData> one_record() {
  std::vector<kafka::RecordData> one;
  one.push_back(record_data(1, "v"));
  return one;
}

}  // namespace

TEST_CASE("a program's results go to the next pool") {
  const Scripts scripts;
  const auto handler = passing_on(
      scripts.python_loop("answer(outcome='done', results=[{'id': 'part', 'value': record['part']},"
                          "{'id': 'same'}])"));
  Run run(one_record());
  run.pass_on();
  run.is_part("left");
  handler->handle(run.task());
  REQUIRE(run.result().done == 1);
  REQUIRE(run.results(0));
  REQUIRE(run.results(0)->size() == 2);
  CHECK(run.results(0)->at(0).value == "left");
  CHECK(run.results(0)->at(1).value == "v");
}

TEST_CASE("a program that returns no results passes the record on") {
  const Scripts scripts;
  const auto handler = passing_on(scripts.python_loop("answer(outcome='done')"));
  Run run(one_record());
  run.pass_on();
  handler->handle(run.task());
  CHECK(run.result().done == 1);
  CHECK(run.results(0) == nullptr);
}

TEST_CASE("an answer with results may be long, but without a next pool its length is limited") {
  const Scripts scripts;
  const auto settings = scripts.python_loop("answer(outcome='done', results=[{'value': 'x' * (16 << 20)}])");
  const auto handler = passing_on(settings);
  Run run(one_record());
  run.pass_on();
  handler->handle(run.task());
  REQUIRE(run.results(0));
  CHECK(run.results(0)->front().value->size() == largest_results);
  CHECK(outcome_of(*made(settings), record_data(1, "v"))
            .reason.starts_with("the program's answer is longer than 65536 bytes"));
}
