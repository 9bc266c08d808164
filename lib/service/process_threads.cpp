#include "service/process_threads.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <variant>

#include "handler/http/http_handler.h"

namespace laneway::service {
namespace {

/// Of one client: its main thread, one for each broker and each one that bootstrap.servers names.
std::uint64_t client_threads(const config::Config& config, std::uint64_t brokers) {
  const std::string& servers = config.client("bootstrap.servers");
  return 2 + static_cast<std::uint64_t>(std::count(servers.begin(), servers.end(), ',')) + brokers;
}

bool has_workers(const config::Config& config) {
  return !std::holds_alternative<config::HttpSettings>(config.handler) &&
         !std::holds_alternative<config::ProduceSettings>(config.handler);
}

}  // namespace

/// Members: the client with a thread for the group's coordinator, the loop, and its helper for requests.
/// Beside them main, signals, watchdog, the clock and the admin server's nine.
ExpectedThreads expected_threads(const config::Config& config, std::uint64_t partitions,
                                 std::uint64_t brokers) {
  const auto client = client_threads(config, brokers);
  const std::uint64_t own = 4 + (config.admin.enabled ? 9 : 0) + (config.trace.otlp.empty() ? 0 : 1);
  std::uint64_t producers = 0;
  if (config.dead_letter.enabled()) ++producers;
  if (std::holds_alternative<config::ProduceSettings>(config.handler)) ++producers;
  ExpectedThreads expected;
  expected.workers = has_workers(config) ? partitions * config.lanes.workers : 0;
  expected.clients = config.consumers * (client + 1) + producers * client;
  expected.all = expected.clients + config.consumers * 2 + expected.workers + own;
  if (const auto* http = std::get_if<config::HttpSettings>(&config.handler)) {
    expected.senders = handler::HttpHandler::threads(*http);
    expected.all += expected.senders;
  }
  return expected;
}

std::optional<std::uint64_t> process_threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stoull(line.substr(8));
  return std::nullopt;
}

}  // namespace laneway::service
