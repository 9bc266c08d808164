#include <signal.h>

#include <algorithm>
#include <atomic>
#include <iostream>

#include "app/dlq/letters.h"
#include "app/dlq/redrive.h"
#include "app/dlq/verbs.h"
#include "app/exit_code.h"
#include "app/signals.h"
#include "app/verbs.h"
#include "app/watchdog.h"
#include "config/loader.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

int refused(const Error& error) {
  std::cerr << "laneway dlq: " << error.text() << '\n';
  return exit_code_of(error.kind);
}

int ended(const Status& status) { return status ? exit_code::done : refused(status.error()); }

Result<std::unique_ptr<dlq::Letters>> open(const config::Config& config, const dlq::Options& options,
                                           const std::string& group) {
  auto letters = dlq::Letters::open(config, options.topics, group);
  if (letters)
    for (const auto& topic : (*letters)->missing())
      std::cerr << "topic " << topic << " does not exist (yet)\n";
  return letters;
}

int list(const config::Config& config, const dlq::Options& options) {
  const auto letters = open(config, options, config.client("group.id"));
  if (!letters) return refused(letters.error());
  const int code = ended(dlq::list(**letters, options, dlq::now_ms(), std::cout));
  std::cout.flush();
  return code;
}

int show(const config::Config& config, dlq::Options options) {
  const auto place = dlq::parse_letter_position(options.place);
  if (!place) return refused(place.error());
  if (!place->topic.empty()) options.topics = {place->topic};
  const auto letters = open(config, options, config.client("group.id"));
  if (!letters) return refused(letters.error());
  return ended(dlq::show(**letters, *place, options.bytes, dlq::now_ms(), std::cout));
}

/// Where records may go: the topic that was named, or the topics of the configuration.
Result<dlq::Targets> targets_of(const config::Config& config, const dlq::Options& options,
                                dlq::Letters& letters) {
  if (options.to.empty()) return letters.targets(config.topics);
  if (const auto there = letters.partitions_of(options.to); !there) return there.error();
  return letters.targets({options.to});
}

int redrive(const config::Config& config, const dlq::Options& options) {
  std::atomic<bool> stop{false};
  const Signals signals([&stop](int signal) {
    if (signal == SIGHUP) return;
    if (stop.exchange(true)) end_process(exit_code::abandoned);
    std::cerr
        << "\nstopping when what is on its way is acknowledged; again: at once, and it may be sent twice\n";
  });
  const auto letters = open(config, options, config.client("group.id") + "-redrive");
  if (!letters) return refused(letters.error());
  const auto targets = targets_of(config, options, **letters);
  if (!targets) return refused(targets.error());
  const auto summary = dlq::redrive(config, **letters, options, *targets, stop);
  std::cout << dlq::summary_text(summary, options) << std::flush;
  if (summary.error) return refused(*summary.error);
  return summary.interrupted || summary.taken_over ? exit_code::abandoned : exit_code::done;
}

}  // namespace

int dead_letters(const config::Source& source, const std::string& verb, const dlq::Options& options) {
  const auto loaded = config::load(source);
  if (!loaded.config) {
    std::cerr << config::report(loaded.errors);
    return exit_code_of(loaded.kind());
  }
  telemetry::set_up_log(telemetry::Level::error, telemetry::Format::text);
  const config::Config& config = *loaded.config;
  if (verb == "list") return list(config, options);
  if (verb == "show") return show(config, options);
  block_signals();
  return redrive(config, options);
}

}  // namespace laneway::app
