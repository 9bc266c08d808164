// The row of a number of workers, which is a number, or a range with the algorithm that chooses in it.
// Private to this folder. Pure.
#pragma once

#include <string>

#include "config/pools.h"
#include "config/property.h"

namespace laneway::config {

struct Workers {
  std::uint32_t most = 0;
  AdaptiveLimit adaptive;
};
std::optional<BadValue> read_workers(Workers& workers, const Node& node);
std::string print_workers(std::uint32_t most, const AdaptiveLimit& adaptive);

inline constexpr std::uint32_t most_workers = 4096;

/// `access`: to a struct with the fields `workers` and `adaptive`.
template <class Access>
Property workers_property(std::string name, std::string description, Access access) {
  Property property(std::move(name), in_flight, "a whole number from 1 to 4096, or { min, max, algorithm }",
                    std::move(description));
  property.most = most_workers;
  property.structured = true;
  property.set = [access](Config& config, const Node& node) -> std::optional<BadValue> {
    Workers workers;
    if (auto bad = read_workers(workers, node)) return bad;
    access(config).workers = workers.most;
    access(config).adaptive = workers.adaptive;
    return std::nullopt;
  };
  property.print = [access](const Config& config) {
    return print_workers(access(config).workers, access(config).adaptive);
  };
  property.restart_for = [access](const Config& a, const Config& b) -> std::string_view {
    if (access(a).adaptive.algorithm == access(b).adaptive.algorithm) return {};
    return "the limit that follows the downstream is created at the start";
  };
  return property;
}

}  // namespace laneway::config
