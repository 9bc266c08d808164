#include "app/control/endpoint.h"

#include "config/yaml/read_file.h"

namespace laneway::control {
namespace {

/// A service that listens on all addresses is asked on the loopback address.
std::string reachable(const std::string& listen) {
  if (listen.starts_with("0.0.0.0:")) return "127.0.0.1:" + listen.substr(8);
  if (listen.starts_with("[::]:")) return "[::1]:" + listen.substr(5);
  return listen;
}

Result<admin::Endpoint> endpoint_of(config::Source source) {
  source.runs_handler = false;
  const auto loaded = config::load(source);
  if (!loaded.config) return Error{loaded.kind(), config::report(loaded.errors), ""};
  const auto& admin = loaded.config->admin;
  if (!admin.enabled)
    return Error{ErrorKind::configuration,
                 source.file + ": admin.enabled is false, so the service does not listen", ""};
  if (admin.listen.ends_with(":0"))
    return Error{ErrorKind::configuration, source.file + ": admin.listen has port 0, which is any free port",
                 "pass --admin with the address of the log line \"admin listening\""};
  return admin::Endpoint{reachable(admin.listen), admin.token};
}

}  // namespace

Result<admin::Endpoint> find_endpoint(const Options& options, const config::Source& source) {
  admin::Endpoint endpoint{options.admin.empty() ? default_address : admin::address_in(options.admin), ""};
  if (!source.file.empty()) {
    auto configured = endpoint_of(source);
    if (!configured) return configured;
    endpoint = *configured;
  }
  if (options.token_file.empty()) return endpoint;
  auto token = config::read_token(options.token_file);
  if (!token)
    return Error{token.error().kind, options.token_file + ": " + token.error().message, token.error().hint};
  endpoint.token = *token;
  return endpoint;
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
