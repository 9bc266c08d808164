#include <chrono>
#include <iostream>
#include <vector>

#include "app/check/connect.h"
#include "app/check/forecast.h"
#include "app/cli/terminal.h"
#include "app/exit_code.h"
#include "app/verbs.h"
#include "base/shortage.h"
#include "config/output/print.h"
#include "config/rules/consumed_topics.h"
#include "handler/registry.h"
#include "kafka/access/key_files.h"
#include "kafka/client/client_support.h"
#include "service/process/process_limits.h"

namespace laneway::app {
namespace {

void warn(const std::string& warning) { std::cerr << "warning: " << warning << '\n'; }

/// Errors that only the client library and the handler can find in their settings. Contacts nothing.
std::vector<Error> errors_of_parts(const config::Config& config) {
  auto files = kafka::check_key_files(config, std::chrono::system_clock::now());
  for (const auto& warning : files.warnings) warn(warning);
  if (!files.errors.empty()) return files.errors;  // the client's message about the same file is shorter
  std::vector<Error> errors;
  if (const auto client = kafka::check_settings(config.kafka); !client) errors.push_back(client.error());
  if (const auto handler = handler::check_handler(config); !handler) errors.push_back(handler.error());
  return errors;
}

int check_parts(const config::Config& config) {
  const auto warnings = kafka::version_warnings(config.kafka);
  if (!warnings) {
    std::cerr << warnings.error().text() << '\n';
    return exit_code_of(warnings.error().kind);
  }
  for (const auto& warning : *warnings) warn(warning);
  const auto errors = errors_of_parts(config);
  if (errors.empty()) return exit_code::done;
  std::cerr << config::report(errors);
  return exit_code_of(errors.front().kind);
}

/// Prints the verdict about the connections, then what was found. The brokers' error decides the exit code.
int connect(const config::Config& config, Cluster& cluster) {
  const auto found = ask_all(config);
  std::cout << cli::safe_text(verdict(found) + found.brokers.details + found.handler.details) << std::flush;
  for (const Answers* answers : {&found.brokers, &found.handler})
    if (answers->error) std::cerr << cli::safe_text(answers->error->text()) << '\n';
  if (found.cluster) cluster = *found.cluster;
  const auto& error = found.brokers.error ? found.brokers.error : found.handler.error;
  return error ? exit_code_of(error->kind) : exit_code::done;
}

void show_forecast(const config::Config& config, const Cluster& cluster) {
  if (const auto path = record_path(config); !path.empty()) std::cout << '\n' << path;
  std::cout << '\n' << forecast(config, cluster);
  raise_open_files_limit();  // as the service does
  for (const auto& warning :
       service::limit_warnings(config, cluster.partitions, cluster.brokers, service::allowed()))
    warn(warning);
}

}  // namespace

int check(const config::Source& source, const CheckOptions& options) {
  const auto loaded = config::load(source);
  if (!loaded.config) return cli::refused(loaded);
  cli::set_up_log(options.verbose);
  for (const auto& warning : loaded.warnings) warn(warning);
  const config::Config& config = *loaded.config;
  if (const int code = check_parts(config); code != exit_code::done) return code;
  std::cout << "configuration is valid\n";
  if (const auto exclusions = config::ConsumedTopics(config).exclusions(); !exclusions.empty())
    std::cout << "the pattern in topics leaves out: " << exclusions << '\n';
  std::cout << std::flush;
  Cluster cluster{.brokers = service::named_brokers(config)};
  const int code = options.connect ? connect(config, cluster) : exit_code::done;
  if (code == exit_code::done || cluster.known) show_forecast(config, cluster);
  if (options.verbose) std::cout << "\nconfiguration in force:\n\n" << config::print(config);
  return code;
}

}  // namespace laneway::app
