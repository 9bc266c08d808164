#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/control/command_line.h"
#include "app/dlq/command_line.h"
#include "app/exit_code.h"
#include "app/plan/command_line.h"
#include "app/verbs.h"

namespace laneway::app {
namespace {

void add_source(CLI::App& verb, config::Source& source) {
  verb.add_option("-c,--config", source.file, "the configuration, a YAML file")
      ->option_text("FILE")
      ->required();
  verb.add_option("--set", source.sets, "override one key, as often as needed")
      ->option_text("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::App* add_demo(CLI::App& program, DemoOptions& options) {
  CLI::App* verb =
      program.add_subcommand("demo", "everything on one machine, on an embedded cluster")->group("Verbs");
  verb->add_option("--records", options.records, "how many records")
      ->check(CLI::Range(100, 50000))
      ->capture_default_str();
  verb->add_option("--seconds", options.seconds, "about how long")
      ->check(CLI::Range(3, 600))
      ->capture_default_str();
  return verb;
}

/// What is wrong with the command line, and where to read on.
int refuse(const CLI::App& program, const CLI::ParseError& error) {
  const auto verbs = program.get_subcommands();
  if (!verbs.empty()) {
    std::string verb = verbs.front()->get_name();
    for (const CLI::App* inner : verbs.front()->get_subcommands()) verb += ' ' + inner->get_name();
    std::cerr << "laneway " << verb << ": " << error.what() << " (see laneway " << verb << " --help)\n";
    return exit_code::usage;
  }
  const auto unknown = program.remaining();
  const std::string what = unknown.empty() ? "a verb is missing" : "'" + unknown.front() + "' is not a verb";
  std::cerr << "laneway: " << what << "\n\n" << program.help();
  return exit_code::usage;
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App program("Runs work for every record of Kafka topics.", "laneway");
  program.require_subcommand(1);
  program.get_formatter()->label("SUBCOMMAND", "VERB");
  program.footer(
      "Exit codes: 0 done; 64 command line; 66 no such file or record; 69 broker, topic or address "
      "unavailable; 70 internal\nor fatal client error; 75 stopped with work abandoned; 78 configuration.");
  config::Source source;
  bool connect = false;
  CLI::App* run_verb = program.add_subcommand("run", "the service, in the foreground")->group("Verbs");
  add_source(*run_verb, source);
  CLI::App* check_verb =
      program.add_subcommand("check", "is the configuration right, and what would happen")->group("Verbs");
  add_source(*check_verb, source);
  check_verb->add_flag("--connect", connect, "ask the brokers and the handler's server too");
  plan::Options plan_options;
  CLI::App* plan_verb = plan::add_verb(program, plan_options);
  DemoOptions demo_options;
  CLI::App* demo_verb = add_demo(program, demo_options);
  control::Options lane_options;
  const auto lane_verbs = control::add_verbs(program, lane_options, source);
  dlq::Options dlq_options;
  CLI::App* dlq_verb = dlq::add_verb(program, dlq_options);
  for (CLI::App* verb : dlq_verb->get_subcommands({})) add_source(*verb, source);
  program.add_subcommand("version", "its own and each library's")->group("Verbs");
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(program, error);
  }
  source.environment = config::process_environment();
  if (run_verb->parsed()) return run(source);
  if (check_verb->parsed()) return check(source, connect);
  if (plan_verb->parsed()) return plan_load(plan_options);
  if (demo_verb->parsed()) return demo(demo_options);
  if (dlq_verb->parsed())
    return dead_letters(source, dlq_verb->get_subcommands().front()->get_name(), dlq_options);
  for (const CLI::App* verb : lane_verbs) {
    if (!verb->parsed()) continue;
    if (verb->get_name() == "status") return status(source, lane_options);
    if (verb->get_name() == "reload") return reload(source, lane_options);
    return control(source, verb->get_name(), lane_options);
  }
  return version();
}

}  // namespace laneway::app
