#include <CLI/CLI.hpp>

#include "app/cli/help.h"
#include "app/cli/option.h"
#include "app/control/options.h"
#include "config/config.h"

namespace laneway::control {
namespace {

CLI::App* add_verb(CLI::App& program, const char* name, const char* what, Options& options,
                   config::Source& source) {
  CLI::App* verb = program.add_subcommand(name, what)->group(cli::group::control);
  auto* address = cli::add_option(*verb, "--admin", "HOST:PORT", options.admin,
                                  "address of the service, its admin.listen (default " +
                                      config::Admin().listen + ": the service of this machine)");
  cli::add_option(*verb, "-c,--config", "FILE", source.file,
                  "the service's configuration file, which has the group, the address and the token")
      ->excludes(address);
  return verb;
}

/// `target`: what the verb is about; null: the service.
CLI::App* add_change(CLI::App& program, const char* name, const char* what, const char* target,
                     Options& options, config::Source& source) {
  CLI::App* verb = add_verb(program, name, what, options, source);
  cli::add_option(*verb, "--token-file", "FILE", options.token_file,
                  "file with the token of admin.token_file");
  if (target == nullptr) return verb;
  const bool record = std::string(target).find("OFFSET") != std::string::npos;
  cli::add_option(*verb, "target", target, options.target,
                  record ? "the record" : "the topic or the partition")
      ->required();
  return verb;
}

void add_status(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* status =
      add_verb(program, "status", "Show the state of a running service and of its lanes", options, source);
  status->add_flag("--watch", options.watch, "refresh every second, until Ctrl-C");
  status->add_flag("--json", options.json, "print the service's answer, one JSON object");
  status->footer(cli::footer("", {"laneway status", "laneway status --watch -c orders.yaml"}));
}

void add_suspend(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* suspend = add_change(program, "suspend", "Take no more records of a topic or partition",
                                 "TOPIC[:PARTITION]", options, source);
  suspend->alias("pause");
  suspend->add_flag("--here", options.here,
                    "only in this process: another instance that gets the partition takes its records, and a "
                    "restart ends the suspension");
  suspend->footer(
      cli::footer("Records that the lane already has are finished. A suspension lasts until `laneway "
                  "resume`: it is stored "
                  "with the committed offset, and goes with the partition through rebalances and restarts. "
                  "The verb `pause` "
                  "does the same.",
                  {"laneway suspend orders", "laneway suspend orders:2 -c orders.yaml",
                   "laneway suspend orders:2 --here"}));
}

std::string refuse_empty(const std::string& text) {
  return text.find_first_not_of(" \t\n") == text.npos ? "the text is empty" : "";
}

void add_skip(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* skip = add_change(program, "skip", "Send a record that fails to the dead-letter topic",
                              "TOPIC:PARTITION:OFFSET", options, source);
  cli::add_option(*skip, "--reason", "TEXT", options.reason,
                  "why the record is skipped; stored with the record and logged (required)", refuse_empty)
      ->required();
  skip->footer(cli::footer("", {"laneway skip orders:2:40 --reason 'malformed, ticket 4711'"}));
}

void add_send_on(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* send_on =
      add_change(program, "send-on", "Run the parked records again at once", nullptr, options, source);
  send_on->footer(cli::footer(
      "Every record that was parked before now, for whatever pool or subscriber, comes back at once "
      "instead of after the delay of its retry topic. What is still not taken is parked again. "
      "The order is to this instance only: ask every instance of the group.",
      {"laneway send-on", "laneway send-on -c orders.yaml"}));
}

void add_give_up(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* give_up =
      add_change(program, "give-up", "Send the parked records of a pool to the dead-letter topic", nullptr,
                 options, source);
  cli::add_option(*give_up, "pool", "POOL", options.target, "the pool whose parked records are given up")
      ->required();
  cli::add_option(*give_up, "--subscriber", "TEXT", options.subscriber,
                  "only the records of this subscriber of the pool", refuse_empty);
  cli::add_option(*give_up, "--reason", "TEXT", options.reason,
                  "why the records are given up; stored with the records and logged (required)", refuse_empty)
      ->required();
  give_up->footer(
      cli::footer("Concerns the records that were parked before now; what is parked later is not affected. "
                  "`laneway dlq redrive` sends the records back. The order is to this instance only, and is "
                  "forgotten when it ends: ask every instance of the group.",
                  {"laneway give-up send --subscriber acme --reason 'acme has closed, ticket 4711'"}));
}

void add_reload(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* reload = add_change(program, "reload", "Make a running service read its configuration again",
                                nullptr, options, source);
  reload->add_flag("--dry-run", options.dry_run, "only show what would change");
  reload->footer(
      cli::footer("The service reads the file that it was started with, as SIGHUP does; -c names the same "
                  "file. If one change is not "
                  "possible, nothing is changed. The changes are shown.",
                  {"laneway reload --dry-run", "laneway reload -c orders.yaml"}));
}

}  // namespace

void add_verbs(CLI::App& program, Options& options, config::Source& source) {
  add_status(program, options, source);
  add_suspend(program, options, source);
  add_change(program, "resume", "Take records of a suspended topic or partition again", "TOPIC[:PARTITION]",
             options, source)
      ->footer(cli::footer("", {"laneway resume orders", "laneway resume orders:2"}));
  add_skip(program, options, source);
  add_send_on(program, options, source);
  add_give_up(program, options, source);
  add_reload(program, options, source);
}

}  // namespace laneway::control
