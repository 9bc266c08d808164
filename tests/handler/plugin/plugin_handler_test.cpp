// Plugins that tests/CMakeLists.txt builds from tests/handler/plugins, loaded as a user's would be.
#include "handler/plugin/plugin_handler.h"

#include <cstddef>

#include "captured_log.h"
#include "catch.h"
#include "folders.h"
#include "handler/run.h"
#include "laneway/plugin.hpp"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::string plugin_path(const std::string& name) { return plugin_folder() + "/" + name + ".so"; }

Result<std::unique_ptr<Handler>> make(const std::string& name, const std::string& config = "{}") {
  config::PluginSettings settings;
  settings.path = plugin_path(name);
  settings.config = config;
  return PluginHandler::make(settings);
}

std::unique_ptr<Handler> loaded(const std::string& name) {
  auto made = make(name);
  REQUIRE(made.ok());
  return std::move(made).value();
}

std::vector<kafka::RecordData> records(const std::vector<std::string>& values) {
  std::vector<kafka::RecordData> out;
  for (const auto& value : values) out.push_back(record_data(static_cast<std::int64_t>(out.size()), value));
  return out;
}

}  // namespace

TEST_CASE("a plugin in C answers each record with a verdict, a reason and a delay") {
  const auto handler = loaded("in_c");
  CHECK(handler->name() == "in_c");
  CHECK(outcome_of(*handler, record_data(1, "done")).verdict == Verdict::done);
  const auto unavailable = outcome_of(*handler, record_data(1, "unavailable"));
  CHECK(unavailable.verdict == Verdict::unavailable);
  CHECK(unavailable.reason == "it is out");
  CHECK(unavailable.after == milliseconds(1500));
  const auto retry = outcome_of(*handler, record_data(1, std::nullopt));
  CHECK(retry.verdict == Verdict::retry);
  CHECK(retry.reason == std::string(1023, 'x'));
  CHECK_FALSE(retry.after);
}

TEST_CASE("an invalid verdict is a retry and a defect of the plugin") {
  const auto outcome = outcome_of(*loaded("in_c"), record_data(1, "nonsense"));
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.cause == Cause::panic);
  CHECK(outcome.reason == "the plugin answered 99, which is not a verdict");
}

TEST_CASE("a plugin gets the whole record, with null distinct from empty") {
  const auto handler = loaded("in_c");
  auto data = record_data(42, "describe");
  data.headers = {{"trace", "t1"}, {"empty", ""}, {"none", std::nullopt}};
  const auto outcome = outcome_of(*handler, data, 3);
  CHECK(outcome.verdict == Verdict::reject);
  CHECK(outcome.reason == "3 42 1767323045678 3 'orders' null 'trace' 't1' 'empty' '' 'none' null null null");
  CHECK(outcome_of(*handler, record_data(42, "describe", "")).reason ==
        "3 42 1767323045678 1 'orders' '' null null");
}

TEST_CASE("a new enough laneway gives a plugin the record's delivery id") {
  const auto in_c = loaded("in_c");
  Run two(records({"delivery id", "delivery id"}));
  in_c->handle(two.task());
  REQUIRE(two.result().failures.size() == 2);
  CHECK(two.result().failures[0].outcome.reason == " 'c-1/orders/3/0'");
  CHECK(two.result().failures[1].outcome.reason == " 'c-1/orders/3/1'");
  CHECK(outcome_of(*loaded("throwing"), record_data(42, "delivery id")).reason == "c-1/orders/3/42");
  laneway_host older{};
  older.struct_size = offsetof(laneway_host, delivery_id);
  const laneway_record record{};
  CHECK(laneway::Record(&older, &record).delivery_id().empty());
}

TEST_CASE("the results of a plugin go to the next pool") {
  const auto handler = loaded("in_c");
  Run run(records({"results", "done", "no results"}));
  run.pass_on();
  handler->handle(run.task());
  REQUIRE(run.result().done == 3);
  REQUIRE(run.results(0));
  REQUIRE(run.results(0)->size() == 2);
  const Part& first = run.results(0)->front();
  CHECK(first.id == "small");
  CHECK(first.key == "k");
  CHECK(first.value == std::string(1, '\0'));
  REQUIRE(first.headers.size() == 1);
  CHECK(first.headers[0] == std::pair<std::string, std::optional<std::string>>("width", std::nullopt));
  CHECK(run.results(0)->at(1).key == std::nullopt);
  CHECK(run.results(0)->at(1).value == std::nullopt);
  CHECK(run.results(1) == nullptr);
  REQUIRE(run.results(2));
  CHECK(run.results(2)->empty());
}

TEST_CASE("the results of a plugin in C++ go to the next pool, also from a batch") {
  const auto handler = loaded("throwing");
  Run run(records({"results", "fine", "no results"}));
  run.pass_on();
  handler->handle(run.task());
  REQUIRE(run.result().done == 3);
  REQUIRE(run.results(0));
  REQUIRE(run.results(0)->size() == 2);
  CHECK(run.results(0)->at(0).headers.size() == 2);
  CHECK(run.results(0)->at(1).id == "right");
  CHECK(run.results(1) == nullptr);
  REQUIRE(run.results(2));
  CHECK(run.results(2)->empty());
  Run batch(records({"now", "now"}));
  batch.pass_on();
  const auto batches = loaded("batches");
  batches->handle(batch.task());
  REQUIRE(batch.result().done == 2);
  REQUIRE(batch.results(1));
  CHECK(batch.results(1)->front().value == "1");
}

TEST_CASE("a record with invalid results is not done, whatever its plugin answers") {
  const CapturedLog log;
  const auto handler = loaded("in_c");
  const auto twice = outcome_of(*handler, record_data(1, "same ids"));
  CHECK(twice.verdict == Verdict::retry);
  CHECK(twice.cause == Cause::panic);
  CHECK(twice.reason == "the plugin gave two results with the id same");
  const auto no_text = outcome_of(*handler, record_data(1, "no text"));
  CHECK(no_text.verdict == Verdict::retry);
  CHECK(no_text.reason.starts_with("the plugin gave a result's id that is not text"));
  CHECK(log.lines({"plugin gave an invalid result", "plugin=in_c"}) > 0);
  CHECK(outcome_of(*handler, record_data(1, "done")).verdict == Verdict::done);
}

TEST_CASE("a new enough laneway gives a plugin the sub-job of the record") {
  for (const char* plugin : {"in_c", "throwing"}) {
    const auto handler = loaded(plugin);
    Run whole(records({"part"}));
    CHECK(outcome_of(*handler, whole).reason == (std::string(plugin) == "in_c" ? " null" : ""));
    Run part(records({"part"}));
    part.is_part("left");
    CHECK(outcome_of(*handler, part).reason == (std::string(plugin) == "in_c" ? " 'left'" : "left"));
  }
  laneway_host older{};
  older.struct_size = offsetof(laneway_host, part);
  const laneway_record record{};
  CHECK(laneway::Record(&older, &record).part().empty());
  CHECK_FALSE(laneway::Record(&older, &record).add_result("a", "b"));
  CHECK_FALSE(laneway::Record(&older, &record).no_results());
}

TEST_CASE("a plugin learns that its attempt must stop, also while it waits") {
  const auto handler = loaded("in_c");
  Run run(records({"wait"}));
  std::thread stopper([&run] { run.stop(); });
  const auto outcome = outcome_of(*handler, run);
  stopper.join();
  CHECK(outcome.reason == "stopped");
  CHECK(outcome.cause == Cause::timeout);
}

TEST_CASE("records in order end at the first record that is not done") {
  const auto handler = loaded("in_c");
  Run run(records({"done", "nonsense", "done"}), true);
  handler->handle(run.task());
  CHECK(run.result().done == 1);
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.state(2) == ItemState::unanswered);
}

TEST_CASE("a task that is recalled ends after the record that the plugin has") {
  const auto handler = loaded("in_c");
  Run run(records({"done", "done"}), true);
  run.want_back();
  handler->handle(run.task());
  CHECK(run.result().done == 1);
  CHECK(run.state(1) == ItemState::unanswered);
}

TEST_CASE("an exception of a C++ plugin is a retry with its text") {
  const auto handler = loaded("throwing");
  CHECK(outcome_of(*handler, record_data(1, "fine")).verdict == Verdict::done);
  const auto outcome = outcome_of(*handler, record_data(1, "exception"));
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason == "the plugin threw: no such table");
  CHECK(outcome_of(*handler, record_data(1, "number")).reason ==
        "the plugin threw: something that is not a std::exception");
  auto data = record_data(1, "header");
  data.headers = {{"h", "first"}, {"h", "last"}, {"other", "x"}};
  CHECK(outcome_of(*handler, data).reason == "last");
}

TEST_CASE("a plugin that fails to start reports why") {
  const auto in_c = make("in_c", R"({"fail": 1})");
  REQUIRE_FALSE(in_c.ok());
  CHECK(in_c.error().kind == ErrorKind::configuration);
  CHECK(in_c.error().message ==
        "handler.plugin: the plugin in_c 1.0 cannot start: told to fail by {\"fail\": 1}");
  const auto silent = make("in_c", R"({"fail": "silently"})");
  CHECK(silent.error().message.ends_with("cannot start: the plugin gave no reason"));
  const auto throwing = make("throwing", "{\"a\": 1}");
  CHECK(throwing.error().message.ends_with("cannot start: it takes no configuration, not {\"a\": 1}"));
}

TEST_CASE("a plugin that fails to end is logged with its text") {
  const CapturedLog log;
  REQUIRE(make("in_c").ok());
  CHECK(log.lines({"plugin did not shut down cleanly"}) == 0);
  REQUIRE(make("in_c", R"({"end badly": 1})").ok());
  CHECK(log.lines({"plugin did not shut down cleanly", "plugin=in_c", "told to end badly"}) == 1);
}

TEST_CASE("trying a plugin returns its name, or the error of its start") {
  config::PluginSettings settings;
  settings.path = plugin_path("in_c");
  CHECK(try_plugin(settings).value() == "in_c 1.0");
  settings.config = R"({"fail": 1})";
  CHECK_FALSE(try_plugin(settings).ok());
}

TEST_CASE("a batch is answered at once or later in any order, and its failures are in the records' order") {
  const auto handler = loaded("batches");
  CHECK(handler->most_per_task() == 4);
  for (const char* when : {"now", "later"}) {
    INFO(when);
    Run run(records({when, "bad", when, "worse"}));
    handler->handle(run.task());
    CHECK(run.result().done == 2);
    REQUIRE(run.result().failures.size() == 2);
    CHECK(run.result().failures[0].outcome.reason == "bad");
    CHECK(run.result().failures[1].outcome.reason == "worse");
  }
}

TEST_CASE("a second answer is refused, also after the batch has gone") {
  const auto handler = loaded("batches");
  Run inside(records({"now", "twice"}));
  handler->handle(inside.task());
  CHECK(inside.result().done == 2);
  Run after(records({"twice"}));
  handler->handle(after.task());
  CHECK(after.result().done == 1);
  CHECK(after.result().failures.empty());
  Run report(records({"report"}));
  CHECK(outcome_of(*handler, report).reason == "report2");
}

TEST_CASE("a batch that is dropped or whose submit throws is retried") {
  const auto handler = loaded("batches");
  for (const char* how : {"drop", "throw"}) {
    Run run(records({how, "later"}));
    handler->handle(run.task());
    REQUIRE(run.result().failures.size() == 2);
    CHECK(run.result().failures[1].outcome.verdict == Verdict::retry);
    CHECK(run.result().failures[1].outcome.reason == (std::string(how) == "drop"
                                                          ? "the plugin dropped the record without an answer"
                                                          : "the plugin threw: no room"));
  }
}

TEST_CASE("a record that hangs until its stop keeps its task, and counts as a time-out") {
  const auto handler = loaded("batches");
  Run run(records({"hang"}));
  handler->handle(run.task());
  CHECK_FALSE(run.ended());
  run.stop();
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].outcome.cause == Cause::timeout);
}

TEST_CASE("records in order reach a batch plugin batch by batch, and end at the first that is not done") {
  const auto handler = loaded("batches");
  Run all(records({"later", "later", "later", "later", "later", "now", "later", "later", "now", "now"}),
          true);
  handler->handle(all.task());
  CHECK(all.result().done == 10);
  Run cut(records({"later", "later", "later", "later", "later", "bad", "later", "later", "later"}), true);
  handler->handle(cut.task());
  CHECK(cut.result().done == 5);
  REQUIRE(cut.result().failures.size() == 1);
  CHECK(cut.result().failures[0].index == 5);
  CHECK(cut.state(6) == ItemState::unanswered);
  CHECK(cut.state(8) == ItemState::unanswered);
}
