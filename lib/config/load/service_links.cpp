#include "config/load/service_links.h"

#include <set>
#include <string_view>
#include <vector>

#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::string_view own_prefix = "LANEWAY_";
constexpr std::size_t most_named = 4;

/// 9644_TCP, 9644_TCP_ADDR: what follows _PORT_ in a variable for one port.
bool is_port_and_protocol(std::string_view text) {
  const auto parts = split(text, "_");
  if (parts.size() < 2 || parts.size() > 3 || !is_digits(parts[0])) return false;
  if (parts[1] != "TCP" && parts[1] != "UDP" && parts[1] != "SCTP") return false;
  return parts.size() == 2 || parts[2] == "PROTO" || parts[2] == "PORT" || parts[2] == "ADDR";
}

/// Where the name of the Service ends in a variable for it; 0 if the variable is not one.
std::size_t end_of_service(std::string_view variable, std::string_view value) {
  if (!variable.starts_with(own_prefix) || variable.find("__") != variable.npos) return 0;
  if (variable.ends_with("_SERVICE_HOST")) return variable.size() - std::string_view("_SERVICE_HOST").size();
  constexpr std::string_view service_port = "_SERVICE_PORT";
  if (const auto at = variable.find(service_port); at != variable.npos && is_digits(value)) {
    const auto rest = variable.substr(at + service_port.size());
    if (rest.empty() || rest.front() == '_') return at;
  }
  constexpr std::string_view port = "_PORT";
  if (variable.ends_with(port) && value.find("://") != value.npos) return variable.size() - port.size();
  for (auto at = variable.find("_PORT_"); at != variable.npos; at = variable.find("_PORT_", at + 1))
    if (is_port_and_protocol(variable.substr(at + port.size() + 1))) return at;
  return 0;
}

/// LANEWAY_X of laneway-x. Kubernetes writes a - as _, and names of Services have no _.
std::string service_of(std::string_view variable, std::string_view value) {
  auto name = lower(variable.substr(0, end_of_service(variable, value)));
  for (char& c : name)
    if (c == '_') c = '-';
  return name;
}

}  // namespace

bool is_service_link(const std::string& variable, const std::string& value) {
  return end_of_service(variable, value) != 0;
}

std::optional<std::string> warning_about_service_links(const EnvironmentVariables& environment) {
  std::vector<std::string> variables;
  std::set<std::string> services;
  for (const auto& [name, value] : environment) {
    if (!is_service_link(name, value)) continue;
    variables.push_back(printable(name));
    services.insert(printable(service_of(name, value)));
  }
  if (variables.empty()) return std::nullopt;
  const auto all = variables.size();
  return listed(std::move(variables), most_named) + (all == 1 ? " is" : " are") +
         " ignored: Kubernetes sets " + (all == 1 ? "this variable" : "these variables") +
         " for the Service " + join({services.begin(), services.end()}, ", ") +
         " (set enableServiceLinks: false in the pod's spec to end this)";
}

}  // namespace laneway::config
