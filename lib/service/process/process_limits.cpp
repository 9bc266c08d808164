#include "service/process/process_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <latch>
#include <limits>
#include <system_error>
#include <thread>

#include "base/shortage.h"
#include "config/pools/pool_scope.h"
#include "handler/registry.h"

namespace laneway::service {
namespace {

constexpr std::uint64_t process_itself = 8;     // standard streams, log, journal of attempts
constexpr std::uint64_t admin_port = 2 + 8;     // listener and event, and the reserve
constexpr std::uint64_t admin_clients = 128;    // connections at once
constexpr std::uint64_t per_broker_thread = 3;  // a connection, and a pipe that wakes the thread
constexpr std::uint64_t per_member = 4;         // events of the loop, and requests on a client of their own
constexpr std::uint64_t spare_threads = 2;

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(rlim_t limit) { return limit == RLIM_INFINITY ? no_limit : std::uint64_t{limit}; }

/// A handler of the process, and the most of its records that run at once in one partition.
struct HandlerAtWork {
  handler::Resources resources;
  std::uint64_t workers;
};

/// The service's handler, or those of its named pools with their pools for retries.
std::vector<HandlerAtWork> handlers_at_work(const config::Config& config) {
  std::vector<HandlerAtWork> all;
  for (const auto& pool : config::stages_of(config))
    all.push_back(
        {handler::resources_of(config.handler_of(pool)), std::uint64_t{pool.workers} + pool.retry_workers});
  return all;
}

/// How many of `wanted` threads can run at once; `refusal` is the reason if there are fewer.
std::uint64_t try_threads(std::uint64_t wanted, std::string& refusal) {
  std::latch all_started(1);
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted) threads.emplace_back([&] { all_started.wait(); });
  } catch (const std::system_error& error) {
    refusal = shortage_of(error.code().value()).value_or(error.what());
  }
  all_started.count_down();
  for (auto& thread : threads) thread.join();
  return threads.size();
}

}  // namespace

std::uint64_t named_brokers(const config::Config& config) {
  const std::string& servers = config.client("bootstrap.servers");
  return 1 + static_cast<std::uint64_t>(std::count(servers.begin(), servers.end(), ','));
}

/// A client has its main thread, one for each broker and one for each name in bootstrap.servers. Each member
/// has the client with a thread for the group's coordinator, the loop, and its helper for requests. In
/// addition there are main, signals, watchdog, the clock and the admin server's nine threads.
ExpectedThreads expected_threads(const config::Config& config, std::uint64_t partitions,
                                 std::uint64_t brokers) {
  const auto client = 1 + named_brokers(config) + brokers;
  const std::uint64_t own = 4 + (config.admin.enabled ? 9 : 0) + (config.trace.otlp.empty() ? 0 : 1);
  std::uint64_t producers = config.dead_letter.enabled() ? 1 : 0;
  std::uint64_t of_handlers = 0;
  ExpectedThreads expected;
  for (const auto& [handler, workers] : handlers_at_work(config)) {
    if (handler.workers) expected.workers += partitions * workers;
    if (handler.produces) ++producers;
    of_handlers += handler.threads;
  }
  expected.clients = config.consumers * (client + 1) + producers * client;
  expected.all = expected.clients + config.consumers * 2 + expected.workers + of_handlers + own;
  if (of_handlers > 0) expected.senders = of_handlers;
  return expected;
}

std::optional<std::uint64_t> process_threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stoull(line.substr(8));
  return std::nullopt;
}

ExpectedDescriptors expected_descriptors(const config::Config& config, std::uint64_t partitions,
                                         std::uint64_t brokers) {
  const auto threads = expected_threads(config, 0, brokers);
  const bool admin = config.admin.enabled;
  const auto common = process_itself + per_broker_thread * threads.clients + per_member * config.consumers +
                      (admin ? admin_port : 0);
  ExpectedDescriptors expected{common, common + (admin ? admin_clients : 0)};
  for (const auto& [handler, workers] : handlers_at_work(config)) {
    expected.least += handler.descriptors(1);
    expected.all += handler.descriptors(partitions * workers);
  }
  return expected;
}

Allowed allowed() {
  rlimit files{};
  rlimit threads{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NPROC, &threads);
  return {limit_of(files.rlim_cur), ::geteuid() == 0 ? no_limit : limit_of(threads.rlim_cur)};
}

std::vector<std::string> limit_warnings(const config::Config& config, std::uint64_t partitions,
                                        std::uint64_t brokers, const Allowed& allowed) {
  std::vector<std::string> warnings;
  const std::string workers = config::shows_pools(config) ? "workers of the pools" : "lanes.workers";
  const auto descriptors = expected_descriptors(config, partitions, brokers).all;
  if (descriptors > allowed.descriptors)
    warnings.push_back("the process may need about " + std::to_string(descriptors) +
                       " open files at a time, and is allowed " + std::to_string(allowed.descriptors) +
                       ": raise the limit (ulimit -n; LimitNOFILE= in a systemd unit), or let fewer records "
                       "run at a time (" +
                       workers + ", handler.http.connections)");
  const auto threads = expected_threads(config, partitions, brokers).all;
  if (threads > allowed.threads)
    warnings.push_back("the process may need about " + std::to_string(threads) +
                       " threads, and all processes of its user together are allowed " +
                       std::to_string(allowed.threads) +
                       ": raise the limit (ulimit -u; LimitNPROC= in a systemd unit), or lower " + workers);
  return warnings;
}

Status check_limits(const config::Config& config, std::uint64_t brokers) {
  const auto files = expected_descriptors(config, 0, brokers).least;
  if (const auto limit = open_files_limit(); limit != RLIM_INFINITY && limit < files)
    return Error{ErrorKind::exhausted,
                 "the service needs about " + std::to_string(files) +
                     " open files to start, and is allowed " + std::to_string(limit),
                 "raise the limit: ulimit -n; LimitNOFILE= in a systemd unit"};
  const auto expected = expected_threads(config, 0, brokers);
  const auto wanted = expected.all - expected.workers + spare_threads;
  const auto running = std::min(wanted, process_threads().value_or(1));
  std::string refusal;
  const auto started = running + try_threads(wanted - running, refusal);
  if (started == wanted) return {};
  return Error{ErrorKind::exhausted,
               "the service needs about " + std::to_string(wanted) +
                   " threads to start, and could only start " + std::to_string(started),
               refusal};
}

}  // namespace laneway::service
