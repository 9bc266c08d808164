#include "app/control/endpoint.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "admin/http/listener.h"
#include "config/yaml/read_file.h"

namespace laneway::control {
namespace {

/// A service that listens on all addresses is asked on the loopback address.
std::string reachable(const std::string& listen) {
  if (listen.starts_with("0.0.0.0:")) return "127.0.0.1:" + listen.substr(8);
  if (listen.starts_with("[::]:")) return "[::1]:" + listen.substr(5);
  return listen;
}

Result<Aim> aim_in(config::Source source) {
  source.runs_handler = false;
  source.complete = false;  // the service may have the rest from its environment
  const auto loaded = config::load(source);
  if (!loaded.config) return Error{loaded.kind(), config::report(loaded.errors), ""};
  const auto& admin = loaded.config->admin;
  if (!admin.enabled)
    return Error{ErrorKind::configuration,
                 source.file + ": admin.enabled is false, so the service does not listen", ""};
  if (admin.listen.ends_with(":0"))
    return Error{ErrorKind::configuration, source.file + ": admin.listen has port 0, which is any free port",
                 "pass --admin with the address of the log line \"admin listening\""};
  return Aim{admin::addresses_in(reachable(admin.listen)), admin.token, loaded.config->client("group.id"),
             source.file};
}

/// A service of an older version does not name its file.
bool same_file(const std::string& named, const std::string& of_service) {
  namespace fs = std::filesystem;
  if (named.empty() || of_service.empty()) return true;
  std::error_code failure;
  return fs::absolute(named, failure).lexically_normal() == fs::path(of_service) ||
         fs::equivalent(named, of_service, failure);
}

std::string words_of(const Found& found) {
  const auto& [group, file] = found.peer.identity;
  return found.endpoint.address + " (group " + group + (file.empty() ? "" : ", file " + file) + ')';
}

std::string list_of(const std::vector<Found>& services) {
  std::string text;
  for (const auto& one : services) text += (text.empty() ? "" : ", ") + words_of(one);
  return text;
}

Error another_service(const Aim& aim, const std::vector<Found>& others) {
  const auto named = aim.file + (aim.group.empty() ? "" : " (group " + aim.group + ')');
  const bool only_group = std::any_of(others.begin(), others.end(), [&](const Found& other) {
    return !other.peer.identity.file.empty() && same_file(aim.file, other.peer.identity.file);
  });
  return {
      ErrorKind::unavailable,
      "the service of " + named + " does not answer; " +
          (others.size() == 1 ? "another service does, and gets nothing: "
                              : "other services do, and get nothing: ") +
          list_of(others),
      only_group
          ? "if the service has its group from its environment or from --set, set LANEWAY_KAFKA__GROUP_ID "
            "for this command too, or choose the service with --admin HOST:PORT"
          : "is the service running? Its log has the line \"admin listening\" with its address; --admin "
            "HOST:PORT chooses a service by its address alone"};
}

}  // namespace

Result<Aim> aim_of(const Options& options, const config::Source& source) {
  Aim aim;
  if (!source.file.empty()) {
    auto configured = aim_in(source);
    if (!configured) return configured;
    aim = *std::move(configured);
  } else {
    aim.addresses = options.admin.empty() ? admin::addresses_in(config::Admin().listen)
                                          : std::vector{admin::address_in(options.admin)};
  }
  if (options.token_file.empty()) return aim;
  auto token = config::read_token(options.token_file);
  if (!token)
    return Error{token.error().kind, options.token_file + ": " + token.error().message, token.error().hint};
  aim.token = *token;
  return aim;
}

Result<Found> find(const Aim& aim) {
  std::vector<Found> meant, others;
  std::optional<Error> first;
  for (const auto& address : aim.addresses) {
    const admin::Endpoint endpoint{address, aim.token};
    auto peer = admin::meet(endpoint);
    if (!peer) {
      if (!first) first = peer.error();
      continue;
    }
    const auto& identity = peer->identity;
    const bool fits =
        (aim.group.empty() || identity.group == aim.group) && same_file(aim.file, identity.file);
    (fits ? meant : others).push_back({endpoint, *std::move(peer)});
  }
  if (meant.size() == 1) return std::move(meant.front());
  if (meant.size() > 1)
    return Error{ErrorKind::usage, "several services answer: " + list_of(meant),
                 "choose one with --admin HOST:PORT, or by its file with -c FILE"};
  if (!others.empty()) return another_service(aim, others);
  return *first;
}

std::string control_path(const cli::Place& target, const std::string& verb) {
  std::string path = "/lanes/" + target.topic + '/';
  if (target.partition) path += std::to_string(*target.partition) + '/';
  return path + verb;
}

Error error_of(const admin::Answer& answer) {
  std::string text = answer.body;
  while (text.ends_with('\n')) text.pop_back();
  switch (answer.status) {
    case 400:
      return {ErrorKind::usage, text, ""};
    case 422:
      return {ErrorKind::configuration, text, ""};
    case 401:
    case 403:
      return {ErrorKind::configuration, text, "pass the token with -c FILE or --token-file FILE"};
    case 404:
      return {ErrorKind::no_input, text, ""};
    case 409:
    case 503:
    case 504:
      return {ErrorKind::unavailable, text, ""};
    default:
      return {ErrorKind::internal, "the service answered " + std::to_string(answer.status) + ": " + text, ""};
  }
}

}  // namespace laneway::control
