#include "service/process/process_limits.h"

#include "catch.h"
#include "descriptor_limit.h"

using namespace laneway;

namespace {

config::Config config_for(config::HandlerSettings handler) {
  config::Config config;
  config.kafka["bootstrap.servers"] = {"a:1,b:2", "test"};
  config.unnamed.workers = 8;
  config.handler = std::move(handler);
  return config;
}

std::uint64_t descriptors(const config::Config& config, std::uint64_t partitions) {
  return service::expected_descriptors(config, partitions, 3).all;
}

}  // namespace

TEST_CASE("a program needs four descriptors, and requests one each within their connections") {
  const auto exec = config_for(config::ExecSettings{});
  CHECK(descriptors(exec, 5) - descriptors(exec, 4) == 8 * 4);
  config::HttpSettings http;
  http.connections = 36;
  const auto requests = config_for(http);
  CHECK(descriptors(requests, 4) - descriptors(requests, 3) == 8);
  CHECK(descriptors(requests, 5) - descriptors(requests, 4) == 4);
  CHECK(descriptors(requests, 6) == descriptors(requests, 5));
  const auto simulated = config_for(config::SimulateSettings{});
  CHECK(descriptors(simulated, 6) == descriptors(simulated, 5));
  CHECK(service::expected_descriptors(exec, 5, 4).all > descriptors(exec, 5));
}

TEST_CASE("the descriptors of all pools are added, and the remedy names the pools") {
  auto config = config_for(config::ExecSettings{});
  const auto least = service::expected_descriptors(config, 4, 3).least;
  config::PoolSettings pool;
  pool.name = "critical";
  pool.workers = 2;
  config.pools = {pool, pool};
  CHECK(descriptors(config, 5) - descriptors(config, 4) == 2 * 2 * 4);
  CHECK(service::expected_descriptors(config, 4, 3).least > least);
  const auto warnings = service::limit_warnings(config, 16, 3, {10, 10});
  REQUIRE(warnings.size() == 2);
  for (const auto& warning : warnings) CHECK(warning.find("workers of the pools") != std::string::npos);
}

TEST_CASE("a resource that may run out is named with its limit") {
  const auto config = config_for(config::ExecSettings{});
  const auto needed = descriptors(config, 16);
  CHECK(service::limit_warnings(config, 16, 3, {needed, 10'000}).empty());
  const auto files = service::limit_warnings(config, 16, 3, {needed - 1, 10'000});
  REQUIRE(files.size() == 1);
  for (const auto& words : {std::to_string(needed), std::to_string(needed - 1)})
    CHECK(files.front().find(words) != std::string::npos);
  CHECK(files.front().find("LimitNOFILE=") != std::string::npos);
  const auto threads = service::limit_warnings(config, 16, 3, {needed, 100});
  REQUIRE(threads.size() == 1);
  CHECK(threads.front().find("ulimit -u") != std::string::npos);
}

TEST_CASE("a service that lacks descriptors reports that, and starts with enough of them") {
  const auto config = config_for(config::SimulateSettings{});
  CHECK(service::check_limits(config, 3).ok());
  const DescriptorLimit few(20);
  const auto status = service::check_limits(config, 3);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::exhausted);
  CHECK(status.error().text().find("ulimit -n") != std::string::npos);
}
