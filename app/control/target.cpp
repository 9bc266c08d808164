#include "app/control/options.h"

namespace laneway::control {

Result<Target> parse_target(const std::string& text) {
  if (auto place = cli::parse_place(text)) return std::move(*place);
  return Error{ErrorKind::usage, "'" + text + "' is not TOPIC, TOPIC:PARTITION or TOPIC:PARTITION:OFFSET",
               "such as orders, orders:2 or orders:2:40"};
}

std::string control_path(const Target& target, const std::string& verb) {
  std::string path = "/lanes/" + target.topic + '/';
  if (target.partition) path += std::to_string(*target.partition) + '/';
  return path + verb;
}

}  // namespace laneway::control
