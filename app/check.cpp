#include <chrono>
#include <iostream>
#include <vector>

#include "app/connect.h"
#include "app/exit_code.h"
#include "app/forecast.h"
#include "app/verbs.h"
#include "base/shortage.h"
#include "config/output/print.h"
#include "handler/registry.h"
#include "kafka/access/key_files.h"
#include "kafka/client/client_support.h"
#include "service/process_limits.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

/// What only the parts themselves can tell of their settings.
std::vector<Error> errors_of_parts(const config::Config& config) {
  auto files = kafka::check_key_files(config, std::chrono::system_clock::now());
  for (const auto& warning : files.warnings) std::cerr << "warning: " << warning << '\n';
  if (!files.errors.empty()) return files.errors;  // the client says less of the same
  std::vector<Error> errors;
  if (const auto client = kafka::check_settings(config.kafka); !client) errors.push_back(client.error());
  if (const auto handler = handler::check_handler(config); !handler) errors.push_back(handler.error());
  return errors;
}

void warn_of_limits(const config::Config& config, const Cluster& cluster) {
  raise_open_files_limit();  // as the service does
  for (const auto& warning :
       service::limit_warnings(config, cluster.partitions, cluster.brokers, service::allowed()))
    std::cerr << "warning: " << warning << '\n';
}

/// Both are asked, so that a person learns of both at once; the brokers' trouble decides the exit code.
int connect_and_forecast(const config::Config& config) {
  const auto cluster = ask_brokers(config, std::cout);
  if (!cluster) std::cerr << cluster.error().text() << '\n';
  const auto handler = ask_handler(config, std::cout);
  if (!handler) std::cerr << handler.error().text() << '\n';
  if (!cluster) return exit_code_of(cluster.error().kind);
  std::cout << '\n' << forecast(config, *cluster);
  warn_of_limits(config, *cluster);
  return handler ? exit_code::done : exit_code_of(handler.error().kind);
}

int check_parts(const config::Config& config) {
  const auto warnings = kafka::version_warnings(config.kafka);
  if (!warnings) {
    std::cerr << warnings.error().text() << '\n';
    return exit_code_of(warnings.error().kind);
  }
  for (const auto& warning : *warnings) std::cerr << "warning: " << warning << '\n';
  const auto errors = errors_of_parts(config);
  if (errors.empty()) return exit_code::done;
  std::cerr << config::report(errors);
  return exit_code_of(errors.front().kind);
}

}  // namespace

int check(const config::Source& source, bool connect) {
  const auto loaded = config::load(source);
  if (!loaded.config) {
    std::cerr << config::report(loaded.errors);
    return exit_code_of(loaded.kind());
  }
  telemetry::set_up_log(telemetry::Level::warn, telemetry::Format::text);
  for (const auto& warning : loaded.warnings) std::cerr << "warning: " << warning << '\n';
  const config::Config& config = *loaded.config;
  if (const int code = check_parts(config); code != exit_code::done) return code;
  std::cout << config::print(config) << '\n';
  if (connect) return connect_and_forecast(config);
  const Cluster assumed{.brokers = named_brokers(config)};
  std::cout << forecast(config, assumed);
  warn_of_limits(config, assumed);
  return exit_code::done;
}

}  // namespace laneway::app
