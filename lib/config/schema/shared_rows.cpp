#include "config/schema/shared_rows.h"

#include <utility>

namespace laneway::config {
namespace {

const Words<LimitAlgorithm>& algorithms() {
  static const Words<LimitAlgorithm> words = {{"aimd", LimitAlgorithm::aimd},
                                              {"vegas", LimitAlgorithm::vegas},
                                              {"gradient", LimitAlgorithm::gradient}};
  return words;
}

std::optional<BadValue> read_number(std::uint32_t& number, const Node& node) {
  return count(1, most_workers).set(number, node);
}

std::optional<BadValue> read_algorithm(LimitAlgorithm& algorithm, const Node& node) {
  const auto found = node.is_scalar() ? value_of(algorithms(), node.text) : std::nullopt;
  if (!found) return BadValue{node, "the algorithms are aimd, vegas and gradient"};
  algorithm = *found;
  return std::nullopt;
}

}  // namespace

std::optional<BadValue> read_workers(std::tuple<std::uint32_t&, AdaptiveLimit&> workers, const Node& node) {
  std::uint32_t most = 0;
  AdaptiveLimit adaptive;
  if (!node.is_map()) {
    auto bad = read_number(most, node);
    if (!bad) workers = std::tuple(most, adaptive);
    return bad;
  }
  for (const Entry& entry : node.entries) {
    std::optional<BadValue> bad;
    if (entry.key == "min")
      bad = read_number(adaptive.min, entry.value);
    else if (entry.key == "max")
      bad = read_number(most, entry.value);
    else if (entry.key == "algorithm")
      bad = read_algorithm(adaptive.algorithm, entry.value);
    else
      bad = BadValue{key_node(entry), "the keys are min, max and algorithm"};
    if (bad) return bad;
  }
  if (most == 0) return BadValue{node, "max is missing"};
  if (!adaptive.enabled()) return BadValue{node, "algorithm is missing"};
  if (adaptive.min > most)
    return BadValue{node,
                    "min is " + std::to_string(adaptive.min) + ", more than max, " + std::to_string(most)};
  workers = std::tuple(most, adaptive);
  return std::nullopt;
}

std::string print_workers(std::tuple<const std::uint32_t&, const AdaptiveLimit&> workers) {
  const auto& [most, adaptive] = workers;
  if (!adaptive.enabled()) return std::to_string(most);
  return "{ min: " + std::to_string(adaptive.min) + ", max: " + std::to_string(most) +
         ", algorithm: " + word_of(algorithms(), adaptive.algorithm) + " }";
}

}  // namespace laneway::config
