#include "config/rules/connection_rules.h"

#include <algorithm>

#include "config/rules/checks.h"
#include "config/text.h"

namespace laneway::config {
namespace {

std::string value_of(const ClientSettings& client, const std::string& key) {
  const auto found = client.find(key);
  return found == client.end() ? std::string() : lower(found->second.value);
}

std::string protocol_of(const ClientSettings& client) {
  const auto protocol = value_of(client, "security.protocol");
  return protocol.empty() ? "plaintext" : protocol;
}

/// What is wrong with one of bootstrap.servers, for which the client would look in vain.
std::string server_problem(std::string_view server, const std::string& protocol) {
  if (server.find('@') != server.npos) return "a user or a password does not belong here";
  const auto shown = in_quotes(server);
  if (const auto at = server.find("://"); at != server.npos) {
    const auto scheme = lower(server.substr(0, at));
    if (scheme == "http" || scheme == "https") return shown + ": brokers are no web servers";
    if (scheme != protocol)
      return shown + " begins with another protocol than security.protocol, which is " + protocol;
    server.remove_prefix(at + 3);
  }
  if (server.find_first_of("; \t/") != server.npos) return shown + " is not host:port";
  const auto colon = server.rfind(':');
  const bool bare_v6 = colon != server.npos && server.find(':') != colon && !server.starts_with('[');
  if (colon == server.npos || bare_v6 || server.ends_with(']')) return "";
  return is_port(server.substr(colon + 1), 1) ? "" : shown + " has no port from 1 to 65535 behind its colon";
}

void check_servers(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  const auto given = connection.own.find("bootstrap.servers");
  if (given == connection.own.end()) return;
  bool any = false;
  for (const auto& part : split(given->second.value, ",")) {
    std::string_view server(part);
    const auto begin = server.find_first_not_of(" \t");
    if (begin == server.npos) continue;
    server = server.substr(begin, server.find_last_not_of(" \t") + 1 - begin);
    any = true;
    if (auto what = server_problem(server, protocol_of(connection.all)); !what.empty())
      problems.push_back({{"bootstrap.servers"}, std::move(what), "host:port, separated by commas", {}});
  }
  if (!any)
    problems.push_back({{"bootstrap.servers"}, "no broker is named", "host:port, separated by commas", {}});
}

void check_protocol(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  const auto protocol = protocol_of(connection.all);
  const bool tls = protocol == "ssl" || protocol == "sasl_ssl";
  const bool sasl = protocol.starts_with("sasl_");
  const auto what = "this has no effect while security.protocol is " + protocol;
  for (const auto& [key, setting] : connection.own) {
    const bool about_tls = key.starts_with("ssl.") || key == "enable.ssl.certificate.verification";
    if (about_tls && !tls)
      problems.push_back({{key, "security.protocol"},
                          what,
                          sasl ? "security.protocol: sasl_ssl" : "security.protocol: ssl or sasl_ssl",
                          {}});
    if (key.starts_with("sasl.") && !sasl)
      problems.push_back(
          {{key, "security.protocol"},
           what,
           tls ? "security.protocol: sasl_ssl" : "security.protocol: sasl_ssl or sasl_plaintext",
           {}});
  }
}

void check_mechanism(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  const auto has = [](const ClientSettings& client, const char* key) { return client.contains(key); };
  const bool named = has(connection.own, "sasl.mechanism") || has(connection.own, "sasl.mechanisms");
  if (named && has(connection.all, "sasl.mechanism") && has(connection.all, "sasl.mechanisms"))
    problems.push_back({{"sasl.mechanisms", "sasl.mechanism"},
                        "sasl.mechanism and sasl.mechanisms are the same key",
                        "keep one",
                        {}});
}

constexpr const char* user_hint =
    "PLAIN and SCRAM need sasl.username and sasl.password, or sasl.password_file";
constexpr const char* ticket_hint =
    "kinit is run with it; sasl.kerberos.min.time.before.relogin: 0 where others keep a ticket fresh";
constexpr const char* token_hint = "tokens are fetched from a token server: docs/access.md";

struct Needed {
  std::vector<std::string> keys;
  std::string hint;
};

Needed needed_by(const std::string& mechanism, const ClientSettings& client) {
  if (mechanism == "plain" || mechanism.starts_with("scram-"))
    return {{"sasl.username", "sasl.password"}, user_hint};
  if (mechanism == "gssapi" && value_of(client, "sasl.kerberos.min.time.before.relogin") != "0")
    return {{"sasl.kerberos.keytab"}, ticket_hint};
  if (mechanism != "oauthbearer" || value_of(client, "enable.sasl.oauthbearer.unsecure.jwt") == "true")
    return {};
  if (value_of(client, "sasl.oauthbearer.method") != "oidc")
    return {{"sasl.oauthbearer.method: oidc"}, token_hint};
  return {
      {"sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret"},
      token_hint};
}

void check_login(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  const auto& all = connection.all;
  if (!protocol_of(all).starts_with("sasl_")) return;
  const auto mechanism = value_of(all, "sasl.mechanism") + value_of(all, "sasl.mechanisms");
  if (mechanism.empty() && (all.contains("sasl.username") || all.contains("sasl.password"))) {
    problems.push_back({{"sasl.username", "sasl.password", "security.protocol"},
                        "sasl.mechanism is missing, and without it the login is by Kerberos",
                        "sasl.mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
                        "sasl.mechanism"});
    return;
  }
  const bool taken_over =
      !connection.own.contains("sasl.mechanism") && !connection.own.contains("sasl.mechanisms");
  const auto needed = needed_by(mechanism.empty() ? "gssapi" : mechanism, all);
  for (const auto& key : needed.keys)
    if (!all.contains(key))
      problems.push_back({{"sasl.mechanism", "sasl.mechanisms", "security.protocol"},
                          key + " is missing",
                          taken_over && !mechanism.empty() && needed.hint == user_hint
                              ? "the credentials of kafka are not shown to other brokers: give those of this "
                                "cluster, sasl.username and sasl.password_file"
                              : needed.hint,
                          key});
}

void check_insecure(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  if (connection.may_be_insecure) return;
  const auto refuse = [&](const char* key, const char* value, const char* what) {
    if (value_of(connection.own, key) == value)
      problems.push_back({{key}, what, "remove it, or set allow_insecure: true if this is meant", {}});
  };
  refuse("enable.ssl.certificate.verification", "false", "the brokers' certificates would not be checked");
  refuse("ssl.endpoint.identification.algorithm", "none", "the brokers' names would not be checked");
  refuse("enable.sasl.oauthbearer.unsecure.jwt", "true", "tokens would not be signed");
}

/// host:port, or what follows the scheme of a URL.
std::string authority_of(const std::string& server) {
  const auto scheme = server.find("://");
  const auto begin = scheme == server.npos ? 0 : scheme + 3;
  return server.substr(begin, server.find_first_of("/?#", begin) - begin);
}

}  // namespace

bool is_loopback(const std::string& server) {
  const auto authority = authority_of(server);
  const auto host = authority.substr(authority.rfind('@') + 1);
  if (host.starts_with("[::1]")) return true;
  const auto name = host.substr(0, host.find(':'));
  return lower(name) == "localhost" ||
         (name.starts_with("127.") && name.find_first_not_of("0123456789.") == name.npos);
}

std::vector<ConnectionProblem> connection_problems(const Connection& connection) {
  std::vector<ConnectionProblem> problems;
  check_servers(connection, problems);
  check_mechanism(connection, problems);
  check_protocol(connection, problems);
  check_login(connection, problems);
  check_insecure(connection, problems);
  return problems;
}

std::optional<std::string> unencrypted(const ClientSettings& client, const std::string& key) {
  const auto protocol = protocol_of(client);
  if (protocol == "ssl" || protocol == "sasl_ssl") return std::nullopt;
  const auto servers = split(value_of(client, "bootstrap.servers"), ",");
  if (std::all_of(servers.begin(), servers.end(), is_loopback)) return std::nullopt;
  return std::string("records ") + (protocol == "sasl_plaintext" ? "and credentials " : "") +
         "travel unencrypted to brokers on other machines (" + key +
         ": ssl or sasl_ssl, or allow_insecure: true if this is meant)";
}

}  // namespace laneway::config
