#include <signal.h>

#include <atomic>
#include <iostream>

#include "app/cli/terminal.h"
#include "app/dlq/letters.h"
#include "app/dlq/redrive.h"
#include "app/dlq/verbs.h"
#include "app/exit_code.h"
#include "app/process/signals.h"
#include "app/process/watchdog.h"
#include "app/verbs.h"
#include "base/time.h"
#include "config/loader.h"

namespace laneway::app {
namespace {

using cli::refused;

/// With the group whose commits say which letters were sent back.
Result<std::unique_ptr<dlq::Letters>> open(const config::Config& config, const dlq::Options& options) {
  auto letters = dlq::Letters::open(config, options.topics, config.client("group.id") + "-redrive");
  if (letters)
    for (const auto& topic : (*letters)->missing()) std::cerr << "topic " << topic << " does not exist yet\n";
  return letters;
}

int list(const config::Config& config, const dlq::Options& options) {
  const auto letters = open(config, options);
  if (!letters) return refused("dlq list", letters.error());
  const auto listed = dlq::list(**letters, options, wall_clock_ms(), {std::cout, cli::terminal_columns()});
  std::cout.flush();
  return listed ? exit_code::done : refused("dlq list", listed.error());
}

int show(const config::Config& config, dlq::Options options) {
  const auto place = dlq::parse_letter_position(options.place);
  if (!place) return refused("dlq show", place.error());
  if (!place->topic.empty()) options.topics = {place->topic};
  const auto letters = open(config, options);
  if (!letters) return refused("dlq show", letters.error());
  const auto shown = dlq::show(**letters, *place, options.bytes, wall_clock_ms(), std::cout);
  return shown ? exit_code::done : refused("dlq show", shown.error());
}

/// The topics to which records may be sent: the topic of --to, or the topics of the configuration.
Result<dlq::Targets> targets_of(const config::Config& config, const dlq::Options& options,
                                dlq::Letters& letters) {
  if (options.to.empty()) return letters.targets(config::ConsumedTopics(config));
  if (const auto there = letters.partitions_of(options.to); !there) return there.error();
  return letters.targets(std::vector{options.to});
}

int redrive(const config::Config& config, const dlq::Options& options) {
  std::atomic<bool> stop{false};
  const Signals signals([&stop](int signal) {
    if (signal == SIGHUP || signal == SIGUSR1) return;
    if (stop.exchange(true)) end_process(exit_code::abandoned);
    std::cerr << "\nstopping when the records that are being sent are acknowledged; a second signal stops at "
                 "once, and then some records may be sent twice\n";
  });
  const auto letters = open(config, options);
  if (!letters) return refused("dlq redrive", letters.error());
  const auto targets = targets_of(config, options, **letters);
  if (!targets) return refused("dlq redrive", targets.error());
  const auto summary = dlq::redrive(config, **letters, options, *targets, stop);
  std::cout << dlq::summary_text(summary, options) << std::flush;
  if (summary.error) return refused("dlq redrive", *summary.error);
  return summary.interrupted || summary.taken_over ? exit_code::abandoned : exit_code::done;
}

}  // namespace

int dead_letters(config::Source source, const std::string& verb, const dlq::Options& options) {
  source.runs_handler = false;
  const auto loaded = config::load(source);
  if (!loaded.config) return refused(loaded);
  const config::Config& config = *loaded.config;
  cli::set_up_log(verb == "redrive");
  if (verb == "list") return list(config, options);
  if (verb == "show") return show(config, options);
  block_signals();
  return redrive(config, options);
}

}  // namespace laneway::app
