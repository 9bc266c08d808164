#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/cli/help.h"
#include "app/cli/mistakes.h"
#include "app/cli/option.h"
#include "app/control/options.h"
#include "app/dlq/options.h"
#include "app/exit_code.h"
#include "app/plan/options.h"
#include "app/verbs.h"
#include "config/output/print.h"

namespace laneway::app {
namespace {

constexpr const char* program_notes =
    "Exit codes: 0 done; 64 wrong command line; 66 no such file, record or lane; 69 brokers, topic or "
    "address not available; 70 internal error or a fatal error of the Kafka client; 75 stopped with "
    "unfinished work; 78 wrong configuration.";

/// What the command line asks for.
struct Wishes {
  config::Source source;
  CheckOptions check;
  plan::Options plan;
  DemoOptions demo;
  control::Options control;
  dlq::Options dlq;
  std::vector<std::string> help;  ///< the verb whose help is asked for
};

void add_source(CLI::App& verb, config::Source& source) {
  cli::add_option(verb, "-c,--config", "FILE", source.file, "the configuration, a YAML file (required)",
                  [](const std::string& name) { return name.empty() ? "the name is empty" : ""; })
      ->required();
  cli::repeated(
      cli::add_option(verb, "--set", "KEY=VALUE", source.sets,
                      "override one key of the configuration; can be repeated; lists are written as in YAML, "
                      R"(such as 'handler.exec.command=["python3", "work.py"]')"));
}

void add_run(CLI::App& program, config::Source& source) {
  CLI::App* verb = program.add_subcommand("run", "Run the service in the foreground")->group(cli::group::run);
  add_source(*verb, source);
  verb->footer(
      cli::footer("SIGTERM and SIGINT let running records finish, commit, and stop; a second signal stops at "
                  "once. SIGHUP reads the configuration again; SIGUSR1 only opens the journal again.",
                  {"laneway run -c orders.yaml", "laneway run -c orders.yaml --set lanes.workers=16"}));
}

void add_check(CLI::App& program, config::Source& source, CheckOptions& options) {
  CLI::App* verb = program.add_subcommand("check", "Validate the configuration and show what it would do")
                       ->group(cli::group::run);
  add_source(*verb, source);
  verb->add_flag(
      "--connect", options.connect,
      "also connect to the brokers and to the handler's server; waits for answers for at most 8 s");
  verb->add_flag("--verbose", options.verbose,
                 "also print the whole configuration that is in force, with all defaults");
  verb->footer(
      cli::footer("Without --connect, check contacts nothing. `laneway help keys` prints every key of the "
                  "configuration with its description and default.",
                  {"laneway check -c orders.yaml", "laneway check -c orders.yaml --connect"}));
}

void add_demo(CLI::App& program, DemoOptions& options) {
  CLI::App* verb = program.add_subcommand("demo", "Show the service on an embedded Kafka cluster")
                       ->group(cli::group::plan);
  cli::add_option(*verb, "--records", "NUMBER", options.records,
                  "number of records (default 4000, 100 to 50000)", cli::whole_number(100, 50000));
  cli::add_option(*verb, "--seconds", "NUMBER", options.seconds,
                  "approximate duration in seconds (default 20, 3 to 600)", cli::whole_number(3, 600));
  verb->footer(cli::footer("", {"laneway demo", "laneway demo --records 10000 --seconds 60"}));
}

void add_about(CLI::App& program, Wishes& wishes) {
  CLI::App* help =
      program.add_subcommand("help", "Show the help of laneway or of one verb")->group(cli::group::about);
  cli::add_option(*help, "verb", "VERB", wishes.help,
                  "the verb; `keys`: every key of the configuration with its description and default");
  help->footer(cli::footer("", {"laneway help check", "laneway help dlq redrive", "laneway help keys"}));
  CLI::App* version = program.add_subcommand("version", "Show the version of laneway and of its libraries")
                          ->group(cli::group::about);
  version->footer(cli::footer("", {"laneway version"}));
  program.set_version_flag("-v,-V,--version", LANEWAY_VERSION,
                           "show the version of laneway and of its libraries");
}

/// In the order of the help.
void add_verbs(CLI::App& program, Wishes& wishes) {
  add_run(program, wishes.source);
  add_check(program, wishes.source, wishes.check);
  control::add_verbs(program, wishes.control, wishes.source);
  CLI::App* letters = dlq::add_verb(program, wishes.dlq);
  for (CLI::App* verb : letters->get_subcommands({})) add_source(*verb, wishes.source);
  CLI::App* help = letters->add_subcommand("help", "Show the help of dlq or of one of its verbs");
  cli::add_option(*help->group(""), "verb", "VERB", wishes.help,
                  "the verb");  // documented: `laneway help dlq`
  plan::add_verb(program, wishes.plan);
  add_demo(program, wishes.demo);
  add_about(program, wishes);
}

int show_keys(const std::vector<std::string>& words) {
  if (words.size() > 1) {
    std::cerr << "laneway help keys: unexpected argument '" << words[1]
              << "'; the verb prints all keys\nsee laneway help --help\n";
    return exit_code::usage;
  }
  std::cout << config::reference();
  return exit_code::done;
}

int show_help(const CLI::App& program, const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "keys") return show_keys(words);
  std::string problem;
  const CLI::App* verb = cli::find_verb(program, words, problem);
  if (verb == nullptr) {
    std::cerr << problem;
    return exit_code::usage;
  }
  std::cout << cli::HelpFormatter().make_help(verb, cli::path_of(*verb), CLI::AppFormatMode::Normal);
  return exit_code::done;
}

int refuse(const CLI::App& program, const CLI::ParseError& error, bool empty) {
  if (empty)
    std::cerr << "laneway: a verb is missing\n\n" << program.help();
  else
    std::cerr << cli::explain(program, error);
  return exit_code::usage;
}

int dead_letters_or_help(const CLI::App& program, const std::string& verb, const Wishes& wishes) {
  if (verb != "help") return dead_letters(wishes.source, verb, wishes.dlq);
  std::vector<std::string> words{"dlq"};
  words.insert(words.end(), wishes.help.begin(), wishes.help.end());
  return show_help(program, words);
}

int act(const CLI::App& program, const Wishes& wishes) {
  const CLI::App& parsed = *program.get_subcommands().front();
  const std::string& verb = parsed.get_name();
  const config::Source& source = wishes.source;
  if (verb == "run") return run(source);
  if (verb == "check") return check(source, wishes.check);
  if (verb == "plan") return plan_load(wishes.plan);
  if (verb == "demo") return demo(wishes.demo);
  if (verb == "dlq")
    return dead_letters_or_help(program, parsed.get_subcommands().front()->get_name(), wishes);
  if (verb == "status") return status(source, wishes.control);
  if (verb == "reload") return reload(source, wishes.control);
  if (verb == "send-on" || verb == "give-up") return order_parked(source, verb, wishes.control);
  if (verb == "help") return show_help(program, wishes.help);
  if (verb == "version") return version();
  return control(source, verb, wishes.control);
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App program("Run work for every record of Kafka topics", "laneway");
  program.require_subcommand(1);
  program.formatter(std::make_shared<cli::HelpFormatter>());
  program.set_help_flag("-h,--help", "show this help");
  program.footer(cli::footer(
      program_notes, {"laneway check -c orders.yaml", "laneway run -c orders.yaml", "laneway help status"}));
  Wishes wishes;
  add_verbs(program, wishes);
  if (const auto problem = cli::single_dash(program, {argv + 1, argv + argc}); !problem.empty()) {
    std::cerr << problem;
    return exit_code::usage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion&) {
    return version();
  } catch (const CLI::ParseError& error) {
    return refuse(program, error, argc <= 1);
  }
  wishes.source.environment = config::process_environment();
  return act(program, wishes);
}

}  // namespace laneway::app
