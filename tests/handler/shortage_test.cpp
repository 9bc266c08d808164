// Handlers in a process that has run out of descriptors: a fault of neither the record nor the downstream.
#include <chrono>

#include "base/shortage.h"
#include "descriptor_limit.h"
#include "handler/exec/exec.h"
#include "handler/http/http.h"
#include "memory_limit.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

bool is_local(const Outcome& outcome) {
  return outcome.verdict == Verdict::unavailable && outcome.cause == Cause::local;
}

bool names_the_limit(const Outcome& outcome) {
  return outcome.reason.find("ulimit -n") != std::string::npos &&
         outcome.reason.find("LimitNOFILE=") != std::string::npos;
}

}  // namespace

TEST_CASE("an http request without a descriptor is a local fault, and works once there is one") {
  if (sanitizer_needs_descriptors) return;
  const HttpServer server([](const auto&, auto& response) { response.status = 204; });
  // By number, by name, and with TLS whose certificates cannot be read.
  for (const std::string& url : {server.url(), std::string("http://a-name-to-be-looked-up.invalid/"),
                                 std::string("https://127.0.0.1:1/")}) {
    INFO(url);
    const auto handler = made(url);
    const DescriptorLimit none(0);
    const auto outcome = outcome_of(*handler, record_data(0, "v"));
    CHECK(is_local(outcome));
    CHECK(names_the_limit(outcome));
    CHECK(outcome.after == Duration(seconds(1)));
  }
  CHECK(outcome_of(*made(server.url()), record_data(0, "v")).verdict == Verdict::done);
}

TEST_CASE("requests wait for connections while descriptors are missing") {
  if (sanitizer_needs_descriptors) return;
  const HttpServer server([](const auto&, auto& response) { response.status = 204; });
  auto settings = settings_for(server.url());
  settings.connections = 4;
  settings.batch.records = 1;  // one thread sends
  const auto handler = made(settings);
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);  // its connection stays
  const AllDescriptors none_left;
  Runs runs(*handler, 200);
  std::size_t local = 0;
  for (std::size_t i = 0; i < 200; ++i) local += runs[i].result().failures.size();
  CHECK(local < 150);  // three at a time, once a second
}

TEST_CASE("a program without descriptors is a local fault, and starts once there are descriptors") {
  if (sanitizer_needs_descriptors) return;
  const Scripts scripts;
  const auto handler = made(scripts.python_loop("answer(outcome='done')"));
  for (int i = 0; i < 10; ++i) {
    const DescriptorLimit none(0);
    const auto outcome = outcome_of(*handler, record_data(0, "v"));
    CHECK(is_local(outcome));
    CHECK(names_the_limit(outcome));
  }
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
}

TEST_CASE("a program gets the limit on open files with which the service was started") {
  const DescriptorLimit inherited(200);
  raise_open_files_limit();
  CHECK(open_files_limit() > 200);
  const Scripts scripts;
  config::ExecSettings settings;
  settings.command = {"/bin/sh", scripts.write("program.sh",
                                               "while read -r record; do\n"
                                               "  echo \"{\\\"outcome\\\":\\\"reject\\\", \\\"reason\\\": "
                                               "\\\"$(ulimit -Sn)\\\"}\"\n"
                                               "done\n")};
  CHECK(outcome_of(*made(settings), record_data(0, "v")).reason == "200");
  shortage::inherited().store(RLIM_INFINITY);
}

TEST_CASE("a request without memory is a local fault, and is sent once there is memory") {
  if (!memory_can_be_limited) return;
  const HttpServer server([](const auto&, auto& response) { response.status = 204; });
  auto settings = settings_for(server.url());
  settings.batch.records = 2;
  settings.batch.linger = milliseconds(1);
  const auto handler = made(settings);
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
  Run large(one(record_data(1, std::string(64 << 20, 'x'))));
  {
    const MemoryLimit limit(32 << 20);
    const auto outcome = outcome_of(*handler, large);
    CHECK(is_local(outcome));
    CHECK(outcome.reason.find("ulimit -v") != std::string::npos);
  }
  CHECK(outcome_of(*handler, record_data(2, "v")).verdict == Verdict::done);
}

TEST_CASE("an exhausted resource is named with its limit") {
  CHECK(shortage_of(EAGAIN).value().find("TasksMax=") != std::string::npos);
  CHECK(shortage_of(ENOMEM).value().find("ulimit -v") != std::string::npos);
  CHECK_FALSE(shortage_of(ECONNREFUSED));
  CHECK_FALSE(shortage_of(0));
  CHECK_FALSE(shortage_of_files());
}
