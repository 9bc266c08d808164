#include "lane_cases.h"

#include <chrono>
#include <utility>

namespace bench {

using namespace laneway;

config::Config configuration(const Options& options, Duration sleep) {
  config::Config config;
  config.kafka["bootstrap.servers"] = {options.bootstrap, "--bootstrap"};
  config.kafka["group.id"] = {options.group, "--group"};
  config.topics = {options.topic};
  config::SimulateSettings handler;
  handler.sleep.p50 = sleep;
  handler.timeout = std::chrono::hours(24);
  config.handler = handler;
  config.admin.enabled = false;
  return config;
}

namespace {

config::Config with_handler(const Options& options, config::HandlerSettings handler) {
  auto config = configuration(options, Duration::zero());
  config.handler = std::move(handler);
  return config;
}

}  // namespace

config::Config with_bulkheads(const Options& options) {
  auto config = configuration(options, milliseconds(10));
  config::PoolSettings other;
  other.name = "other";
  config::SimulateSettings work;
  work.sleep.p50 = options.healthy ? Duration::zero() : Duration(std::chrono::hours(24));
  work.timeout = std::chrono::hours(25);
  other.handler = work;
  config::PoolSettings counted;
  counted.name = counted_pool;
  config.pools = {other, counted};
  config.route.by = {config::Selector::Kind::key, ""};
  config.route.rows = {{"1", true, other.name}};
  config.route.otherwise = counted.name;
  config.lanes.max_incomplete = 100000;
  return config;
}

config::Config posting(const Options& options) {
  config::HttpSettings handler;
  handler.url = options.url;
  handler.connections = 4096;
  handler.batch.records = options.batch;
  auto config = with_handler(options, handler);
  config.unnamed.workers = options.workers;
  return config;
}

config::Config writing(const Options& options) {
  config::ProduceSettings handler;
  handler.topic = options.to;
  handler.transactional = options.transactional;
  auto config = with_handler(options, handler);
  config.unnamed.queue = 4096;
  if (options.transactional) config.commit = {milliseconds(100), 100000};
  return config;
}

config::Config piping(const Options& options) {
  config::ExecSettings handler;
  handler.command = options.child;
  auto config = with_handler(options, handler);
  config.unnamed.workers = options.workers;
  return config;
}

config::Config loading(const Options& options) {
  config::PluginSettings handler;
  handler.path = options.plugin;
  handler.timeout = std::chrono::hours(24);
  return with_handler(options, handler);
}

config::Config sharing(const Options& options) {
  auto config = !options.url.empty()      ? posting(options)
                : !options.child.empty()  ? piping(options)
                : !options.plugin.empty() ? loading(options)
                                          : configuration(options, milliseconds(10));
  config.lanes.order = options.order == "key" ? config::Order::key : config::Order::none;
  return config;
}

config::Config with_room_for(const Options& options) {
  auto config = configuration(options, Duration::zero());
  config.retry.backoff = config.retry.max_backoff = std::chrono::hours(1);
  config.retry.max_waiting = static_cast<std::uint32_t>(options.waiting) + 1;
  config.lanes.memory = 1ULL << 30;
  config.lanes.max_incomplete = static_cast<std::uint32_t>(options.records);
  return config;
}

}  // namespace bench
