// The programs in config/examples/exec, as their configurations name them.
#include "catch.h"
#include "config/loader.h"
#include "folders.h"
#include "handler/exec/exec.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

const std::string folder = source_folder() + "/config/examples/exec/";

/// The handler of an example's configuration, with the paths of this machine.
std::unique_ptr<Handler> of_example(const std::string& file, const Scripts& scripts) {
  const auto loaded = config::load({folder + file, {}, {}});
  REQUIRE(loaded.config.has_value());
  auto settings = std::get<config::ExecSettings>(loaded.config->handler);
  for (std::string& word : settings.command)
    if (word == "/tmp/orders.txt") word = scripts.path("orders.txt");
  return made(settings);
}

}  // namespace

TEST_CASE("the example in Python judges orders") {
  const Scripts scripts;
  const auto handler = of_example("python.yaml", scripts);
  CHECK(outcome_of(*handler, record_data(1, R"({"id":7})")).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(2, {})).verdict == Verdict::done);
  const auto rejected = outcome_of(*handler, record_data(3, "{}"));
  CHECK(rejected.verdict == Verdict::reject);
  CHECK(rejected.reason == "the order has no id");
  CHECK(outcome_of(*handler, record_data(4, "\xff\xfe")).verdict == Verdict::reject);
  auto data = record_data(5, R"({"id":7})", "\xff");
  data.headers = {{"a", "b"}, {"c", std::nullopt}};
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  const auto failed = outcome_of(*handler, record_data(6, "5"));
  CHECK(failed.verdict == Verdict::retry);
  CHECK(failed.reason == "TypeError: argument of type 'int' is not iterable");
}

TEST_CASE("the example with binary frames takes any bytes") {
  const Scripts scripts;
  const auto handler = of_example("binary.yaml", scripts);
  auto data = record_data(1, std::string("\0\xff", 2), "k");
  data.headers = {{"a", "b"}, {"c", std::nullopt}};
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(2, {})).verdict == Verdict::done);
  const auto rejected = outcome_of(*handler, record_data(3, ""));
  CHECK(rejected.verdict == Verdict::reject);
  CHECK(rejected.reason == "the value is empty");
}

TEST_CASE("the example in shell appends records to a file, or reports why it cannot") {
  const Scripts scripts;
  const auto handler = of_example("shell.yaml", scripts);
  CHECK(outcome_of(*handler, record_data(1, "a\\n'$(id)\"\n")).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(2, "b")).verdict == Verdict::done);
  const auto file = scripts.read("orders.txt");
  CHECK(std::count(file.begin(), file.end(), '\n') == 2);
  CHECK(file.find(R"("offset":1,"timestamp":1767323045678,"key":null,"value":"a\\n'$(id)\"\n")") !=
        file.npos);
  std::filesystem::remove(scripts.path("orders.txt"));
  std::filesystem::create_directory(scripts.path("orders.txt"));
  const auto failed = outcome_of(*handler, record_data(3, "c"));
  CHECK(failed.verdict == Verdict::retry);
  CHECK(failed.reason.starts_with("the work failed with exit status "));
}
