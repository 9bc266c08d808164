#include "config/checks/connection_rules.h"

#include <algorithm>

#include "config/checks/checks.h"
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

/// A name, an IPv4 address, or an IPv6 address in brackets, which may have a zone.
bool is_broker_host(std::string_view host) {
  if (!host.starts_with('[')) return is_host(host) && host.find_first_of(":[]") == host.npos;
  if (!host.ends_with(']') || host.find(':') == host.npos) return false;
  host = host.substr(1, host.size() - 2);
  const auto zone = std::min(host.find('%'), host.size());
  return is_host(host.substr(0, zone)) && (zone == host.size() || is_host(host.substr(zone + 1))) &&
         host.find_first_of("[]") == host.npos;
}

/// Why the client could not find one of bootstrap.servers; empty if the address is right.
std::string server_problem(std::string_view server, const std::string& protocol) {
  if (server.find('@') != server.npos) return "a broker's address contains no user and no password";
  const auto shown = in_quotes(server);
  if (const auto at = server.find("://"); at != server.npos) {
    const auto scheme = lower(server.substr(0, at));
    if (scheme == "http" || scheme == "https")
      return shown + " is the address of a web server, and not of a broker";
    if (scheme != protocol)
      return shown + " begins with " + in_quotes(server.substr(0, at + 3)) + "; write " +
             in_quotes(server.substr(at + 3)) + ", and the protocol in security.protocol, which is " +
             protocol;
    server.remove_prefix(at + 3);
  }
  if (server.find_first_of("; \t/") != server.npos || (server.starts_with(':') && !server.starts_with("::")))
    return shown + " is not HOST:PORT";
  const auto colon = server.rfind(':');
  const bool several = colon != server.npos && server.find(':') != colon && !server.starts_with('[');
  if (several) {
    const auto address = server.substr(0, server.find('%'));  // of IPv6, without brackets and without a port
    const bool hexadecimal = address.find_first_not_of("0123456789abcdefABCDEF:.") == address.npos;
    return hexadecimal ? "" : shown + " is not HOST:PORT";
  }
  if (is_digits(server)) return shown + " is not HOST:PORT";
  if (const auto host = server.substr(0, server.starts_with('[') ? server.find(']') + 1 : colon);
      !is_broker_host(host))
    return shown + " contains a character that no host name has";
  if (colon == server.npos || server.ends_with(']')) return "";
  return is_port(server.substr(colon + 1), 1) ? "" : shown + " has no port from 1 to 65535 after the colon";
}

void check_servers(const ConnectionSettings& connection, std::vector<ConnectionProblem>& problems) {
  const auto given = connection.own.find("bootstrap.servers");
  if (given == connection.own.end()) return;
  bool any = false;
  for (const auto& part : split(given->second.value, ",")) {
    const auto server = trimmed(part);
    if (server.empty()) continue;
    any = true;
    if (auto what = server_problem(server, protocol_of(connection.all)); !what.empty())
      problems.push_back(
          {{"bootstrap.servers"}, std::move(what), "expected HOST:PORT, several separated by commas"});
  }
  if (!any)
    problems.push_back({{"bootstrap.servers"},
                        "the list names no broker",
                        "expected HOST:PORT, several separated by commas"});
}

void check_protocol(const ConnectionSettings& connection, std::vector<ConnectionProblem>& problems) {
  const auto protocol = protocol_of(connection.all);
  const bool tls = protocol == "ssl" || protocol == "sasl_ssl";
  const bool sasl = protocol.starts_with("sasl_");
  const auto what = "this key has no effect while security.protocol is " + protocol;
  for (const auto& [key, setting] : connection.own) {
    const bool about_tls = key.starts_with("ssl.") || key == "enable.ssl.certificate.verification";
    if (about_tls && !tls)
      problems.push_back(
          {{key, "security.protocol"},
           what,
           sasl ? "set security.protocol: sasl_ssl" : "set security.protocol: ssl or sasl_ssl"});
    if (key.starts_with("sasl.") && !sasl)
      problems.push_back(
          {{key, "security.protocol"},
           what,
           tls ? "set security.protocol: sasl_ssl" : "set security.protocol: sasl_ssl or sasl_plaintext"});
  }
}

void check_mechanism(const ConnectionSettings& connection, std::vector<ConnectionProblem>& problems) {
  const auto has = [](const ClientSettings& client, const char* key) { return client.contains(key); };
  const bool named = has(connection.own, "sasl.mechanism") || has(connection.own, "sasl.mechanisms");
  if (named && has(connection.all, "sasl.mechanism") && has(connection.all, "sasl.mechanisms"))
    problems.push_back({{"sasl.mechanisms", "sasl.mechanism"},
                        "sasl.mechanism and sasl.mechanisms are the same key",
                        "remove one of the two"});
}

constexpr const char* user_hint =
    "PLAIN and SCRAM need sasl.username and sasl.password, or sasl.password_file";
constexpr const char* ticket_hint =
    "laneway runs kinit with the key table; set sasl.kerberos.min.time.before.relogin: 0 if another program "
    "keeps a ticket fresh";
constexpr const char* token_hint = "laneway fetches tokens from a token server: docs/access.md";

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

void check_login(const ConnectionSettings& connection, std::vector<ConnectionProblem>& problems) {
  const auto& all = connection.all;
  if (!protocol_of(all).starts_with("sasl_")) return;
  const auto mechanism = value_of(all, "sasl.mechanism") + value_of(all, "sasl.mechanisms");
  const bool about_kerberos = std::any_of(all.begin(), all.end(), [](const auto& setting) {
    return setting.first.starts_with("sasl.kerberos.");
  });
  if (mechanism.empty() && !about_kerberos) {
    problems.push_back(
        {{"sasl.username", "sasl.password", "security.protocol"},
         "sasl.mechanism is missing; without this key the login uses Kerberos",
         all.contains("sasl.username") || all.contains("sasl.password")
             ? "set sasl.mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
             : "set sasl.mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI",
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
                              ? "the credentials of kafka are not used for other brokers; set sasl.username "
                                "and sasl.password_file of this cluster"
                              : needed.hint,
                          key});
}

void check_insecure(const ConnectionSettings& connection, std::vector<ConnectionProblem>& problems) {
  if (connection.may_be_insecure) return;
  const auto refuse = [&](const char* key, const char* value, const char* what) {
    if (value_of(connection.own, key) == value)
      problems.push_back({{key}, what, "remove this key, or set allow_insecure: true if this is intended"});
  };
  refuse("enable.ssl.certificate.verification", "false", "laneway would not check the brokers' certificates");
  refuse("ssl.endpoint.identification.algorithm", "none", "laneway would not check the brokers' names");
  refuse("enable.sasl.oauthbearer.unsecure.jwt", "true", "tokens would not be signed");
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

std::vector<ConnectionProblem> connection_problems(const ConnectionSettings& connection) {
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
         "travel unencrypted to brokers on other machines (set " + key +
         ": ssl or sasl_ssl, or allow_insecure: true if this is intended)";
}

}  // namespace laneway::config
