#include "app/control/command_line.h"

#include <CLI/CLI.hpp>
namespace laneway::control {
namespace {

CLI::App* add_verb(CLI::App& program, const char* name, const char* what, Options& options,
                   config::Source& source) {
  CLI::App* verb = program.add_subcommand(name, what)->group("Verbs");
  auto* address = verb->add_option("--admin", options.admin, "where the service listens, admin.listen")
                      ->option_text(std::string("HOST:PORT=") + default_address);
  verb->add_option("-c,--config", source.file, "the service's configuration: says where, and has the token")
      ->option_text("FILE")
      ->excludes(address);
  return verb;
}

CLI::App* add_change(CLI::App& program, const char* name, const char* what, Options& options,
                     config::Source& source) {
  CLI::App* verb = add_verb(program, name, what, options, source);
  verb->add_option("--token-file", options.token_file, "holds the token of admin.token_file")
      ->option_text("FILE");
  return verb;
}

CLI::App* add_change_of(CLI::App& program, const char* name, const char* what, const char* target,
                        Options& options, config::Source& source) {
  CLI::App* verb = add_change(program, name, what, options, source);
  verb->add_option("target", options.target, "what")->option_text(target)->required();
  return verb;
}

}  // namespace

std::vector<CLI::App*> add_verbs(CLI::App& program, Options& options, config::Source& source) {
  CLI::App* status = add_verb(program, "status", "how a running service and its lanes are", options, source);
  status->add_flag("--watch", options.watch, "again every second, until Ctrl-C");
  status->add_flag("--json", options.json, "as the service gives it, one object");
  CLI::App* pause = add_change_of(program, "pause", "take no more records of a topic or partition",
                                  "TOPIC[:PARTITION]", options, source);
  pause->footer(
      "What was taken is finished. It lasts through rebalances, until resume or the end of the process.");
  CLI::App* resume =
      add_change_of(program, "resume", "end a pause by hand", "TOPIC[:PARTITION]", options, source);
  CLI::App* skip = add_change_of(program, "skip", "send a record that fails to the dead-letter topic",
                                 "TOPIC:PARTITION:OFFSET", options, source);
  skip->add_option("--reason", options.reason, "why; it goes with the record and into the log")
      ->option_text("TEXT")
      ->required();
  CLI::App* reload =
      add_change(program, "reload", "a running service reads its configuration again", options, source);
  reload->add_flag("--dry-run", options.dry_run, "only say what would change");
  reload->footer(
      "All or nothing, and what has changed is said. It reads the file that it was started with, as SIGHUP "
      "does.");
  return {status, pause, resume, skip, reload};
}

}  // namespace laneway::control
