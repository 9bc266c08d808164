#include "config/connection_rules.h"

#include <algorithm>

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

void check_login(const Connection& connection, std::vector<ConnectionProblem>& problems) {
  if (!protocol_of(connection.all).starts_with("sasl_")) return;
  const auto mechanism =
      value_of(connection.all, "sasl.mechanism") + value_of(connection.all, "sasl.mechanisms");
  if (mechanism != "plain" && !mechanism.starts_with("scram-")) return;
  const bool taken_over =
      !connection.own.contains("sasl.mechanism") && !connection.own.contains("sasl.mechanisms");
  for (const std::string key : {"sasl.username", "sasl.password"})
    if (!connection.all.contains(key))
      problems.push_back(
          {{"sasl.mechanism", "sasl.mechanisms"},
           key + " is missing",
           taken_over
               ? "the credentials of kafka are not shown to other brokers: give those of this cluster, "
                 "sasl.username and sasl.password_file"
               : "PLAIN and SCRAM need sasl.username and sasl.password, or sasl.password_file",
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
