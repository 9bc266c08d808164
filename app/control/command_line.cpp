#include "app/control/command_line.h"

#include <CLI/CLI.hpp>

#include "app/cli/help.h"
#include "config/config.h"

namespace laneway::control {
namespace {

CLI::App* add_verb(CLI::App& program, const char* name, const char* what, Options& options,
                   config::Source& source) {
  CLI::App* verb = program.add_subcommand(name, what)->group(cli::group::control);
  auto* address = verb->add_option("--admin", options.admin,
                                   "address of the service, its admin.listen (default " +
                                       config::Admin().listen + ": the service of this machine)")
                      ->option_text("HOST:PORT");
  verb->add_option("-c,--config", source.file,
                   "the service's configuration file, which has the group, the address and the token")
      ->option_text("FILE")
      ->excludes(address);
  return verb;
}

CLI::App* add_change(CLI::App& program, const char* name, const char* what, Options& options,
                     config::Source& source) {
  CLI::App* verb = add_verb(program, name, what, options, source);
  verb->add_option("--token-file", options.token_file, "file with the token of admin.token_file")
      ->option_text("FILE");
  return verb;
}

CLI::App* add_change_of(CLI::App& program, const char* name, const char* what, const char* target,
                        Options& options, config::Source& source) {
  CLI::App* verb = add_change(program, name, what, options, source);
  const bool record = std::string(target).find("OFFSET") != std::string::npos;
  verb->add_option("target", options.target, record ? "the record" : "the topic or the partition")
      ->option_text(target)
      ->required();
  return verb;
}

CLI::App* add_status(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* status =
      add_verb(program, "status", "Show the state of a running service and of its lanes", options, source);
  status->add_flag("--watch", options.watch, "refresh every second, until Ctrl-C");
  status->add_flag("--json", options.json, "print the service's answer, one JSON object");
  status->footer(cli::footer("", {"laneway status", "laneway status --watch -c orders.yaml"}));
  return status;
}

CLI::App* add_suspend(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* suspend = add_change_of(program, "suspend", "Take no more records of a topic or partition",
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
  return suspend;
}

CLI::App* add_skip(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* skip = add_change_of(program, "skip", "Send a record that fails to the dead-letter topic",
                                 "TOPIC:PARTITION:OFFSET", options, source);
  skip->add_option("--reason", options.reason,
                   "why the record is skipped; stored with the record and logged (required)")
      ->option_text("TEXT")
      ->check([](const std::string& text) {
        return std::string(text.find_first_not_of(" \t\n") == text.npos ? "the text is empty" : "");
      })
      ->required();
  skip->footer(cli::footer("", {"laneway skip orders:2:40 --reason 'malformed, ticket 4711'"}));
  return skip;
}

CLI::App* add_reload(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* reload =
      add_change(program, "reload", "Make a running service read its configuration again", options, source);
  reload->add_flag("--dry-run", options.dry_run, "only show what would change");
  reload->footer(
      cli::footer("The service reads the file that it was started with, as SIGHUP does; -c names the same "
                  "file. If one change is not "
                  "possible, nothing is changed. The changes are shown.",
                  {"laneway reload --dry-run", "laneway reload -c orders.yaml"}));
  return reload;
}

}  // namespace

std::vector<CLI::App*> add_verbs(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* status = add_status(program, options, source);
  CLI::App* suspend = add_suspend(program, options, source);
  CLI::App* resume = add_change_of(program, "resume", "Take records of a suspended topic or partition again",
                                   "TOPIC[:PARTITION]", options, source);
  resume->footer(cli::footer("", {"laneway resume orders", "laneway resume orders:2"}));
  CLI::App* skip = add_skip(program, options, source);
  return {status, suspend, resume, skip, add_reload(program, options, source)};
}

}  // namespace laneway::control
