#include <atomic>
#include <cstdio>
#include <iostream>

#include "app/cli/terminal.h"
#include "app/demo/scenario.h"
#include "app/exit_code.h"
#include "app/process/signals.h"
#include "app/process/watchdog.h"
#include "app/verbs.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

void introduce(const demo::Environment& environment, const DemoOptions& options) {
  const demo::Plan plan(options.records, seconds(options.seconds));
  std::printf(
      "A Kafka cluster inside this process, at %s, has a topic with %d\n"
      "partitions. %llu records arrive in bursts, most of them in the first partitions.\n"
      "The work on a record takes about %lld ms; each lane runs %u records at a time. For\n"
      "a while two members share the lanes. Configuration, log and journals of this run\n"
      "are in %s\n\n",
      environment.bootstrap().c_str(), demo::partitions, static_cast<unsigned long long>(options.records),
      static_cast<long long>(plan.work().count()), demo::workers, environment.folder().c_str());
  std::fflush(stdout);
}

void summarize(const demo::Outcome& outcome) {
  const auto& found = outcome.findings;
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "\nproduced   %6llu  acknowledged by the broker\n"
      "processed  %6llu  by the journals of the members\n"
      "committed  %6llu  by the committed offsets of the broker\n"
      "lost %llu, duplicated %llu\n",
      number(found.produced), number(found.processed), number(found.committed), number(found.lost),
      number(found.duplicated));
  if (found.foreign > 0) std::printf("journal lines of no produced record: %llu\n", number(found.foreign));
  if (found.committed < found.produced)
    std::printf("left in the topic for the next start: %llu\n", number(found.produced - found.committed));
  if (outcome.ended.abandoned > 0)
    std::printf("abandoned while running: %llu\n", number(outcome.ended.abandoned));
  std::fflush(stdout);
}

int exit_code_after(const demo::Outcome& outcome) {
  if (outcome.ended.error) return cli::refused("demo", *outcome.ended.error);
  if (!outcome.findings.good()) {
    std::cerr
        << "laneway demo: records were lost or duplicated (this is a defect of laneway; please report it)\n";
    return exit_code::internal;
  }
  if (outcome.ended.abandoned > 0) return exit_code::abandoned;
  if (outcome.interrupted || outcome.findings.complete()) return exit_code::done;
  std::cerr << "laneway demo: not every record was processed and committed (see the log)\n";
  return exit_code::internal;
}

}  // namespace

int demo(const DemoOptions& options) {
  block_signals();
  auto environment = demo::Environment::create();  // before the threads below, which log
  if (!environment) return cli::refused("demo", environment.error());
  Watchdog watchdog;
  std::atomic<int> interrupts{0};
  const Signals signals([&interrupts](int) { interrupts.fetch_add(1); });
  introduce(**environment, options);
  demo::Scenario scenario(**environment, options.records, seconds(options.seconds));
  const auto outcome = scenario.run(interrupts);
  summarize(outcome);
  const int code = exit_code_after(outcome);
  telemetry::flush_log();
  if (outcome.ended.stuck) end_process(code);
  watchdog.arm(SteadyClock::now() + exit_grace, code);
  return code;
}

}  // namespace laneway::app
