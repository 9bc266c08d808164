#include "config/schema/workers_row.h"

#include <utility>

namespace laneway::config {
namespace {

constexpr std::pair<const char*, LimitAlgorithm> algorithms[] = {
    {"aimd", LimitAlgorithm::aimd}, {"vegas", LimitAlgorithm::vegas}, {"gradient", LimitAlgorithm::gradient}};

std::optional<BadValue> read_number(std::uint32_t& number, const Node& node) {
  if (!node.is_scalar()) return BadValue{node, ""};
  const auto parsed = parse_number<std::uint32_t>(node.text, 1, most_workers);
  if (!parsed) return BadValue{node, parsed.error().message};
  number = *parsed;
  return std::nullopt;
}

std::optional<BadValue> read_algorithm(LimitAlgorithm& algorithm, const Node& node) {
  for (const auto& [word, value] : algorithms)
    if (node.is_scalar() && node.text == word) {
      algorithm = value;
      return std::nullopt;
    }
  return BadValue{node, "the algorithms are aimd, vegas and gradient"};
}

}  // namespace

std::optional<BadValue> read_workers(Workers& workers, const Node& node) {
  if (!node.is_map()) return read_number(workers.most, node);
  auto& adaptive = workers.adaptive;
  for (const Entry& entry : node.entries) {
    std::optional<BadValue> bad;
    if (entry.key == "min")
      bad = read_number(adaptive.min, entry.value);
    else if (entry.key == "max")
      bad = read_number(workers.most, entry.value);
    else if (entry.key == "algorithm")
      bad = read_algorithm(adaptive.algorithm, entry.value);
    else
      bad = BadValue{key_node(entry), "the keys are min, max and algorithm"};
    if (bad) return bad;
  }
  if (workers.most == 0) return BadValue{node, "max is missing"};
  if (!adaptive.enabled()) return BadValue{node, "algorithm is missing"};
  if (adaptive.min > workers.most)
    return BadValue{
        node, "min is " + std::to_string(adaptive.min) + ", more than max, " + std::to_string(workers.most)};
  return std::nullopt;
}

std::string print_workers(std::uint32_t most, const AdaptiveLimit& adaptive) {
  for (const auto& [word, value] : algorithms)
    if (value == adaptive.algorithm)
      return "{ min: " + std::to_string(adaptive.min) + ", max: " + std::to_string(most) +
             ", algorithm: " + word + " }";
  return std::to_string(most);
}

}  // namespace laneway::config
