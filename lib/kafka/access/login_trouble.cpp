#include "kafka/access/login_trouble.h"

#include "kafka/access/client_words.h"

namespace laneway::kafka {
namespace {

constexpr std::string_view handshake = " mechanism handshake failed: Broker: ";

constexpr const char* token_url = "kafka.sasl.oauthbearer.token.endpoint.url";
constexpr const char* until_the_token_expires =
    "; an existing token remains in use until it expires, and the client asks the server again";

bool over_tls(std::string_view words) { return has(words, "ssl://"); }

/// The connection ended before the broker had answered.
bool cut_short(std::string_view words) {
  return has(words, "mechanism handshake failed: Local: ") ||
         has(words, "SaslAuthenticateRequest failed: Local: ");
}

/// Explains a failure of the token server.
std::optional<std::string> token_trouble(std::string_view words) {
  if (!has(words, "Failed to acquire SASL OAUTHBEARER token") && !has(words, "Failed to retrieve OIDC token"))
    return std::nullopt;
  if (has(words, "invalid_client") || has(words, "unauthorized_client") || has(words, "(401)"))
    return "the token server refuses the client; check kafka.sasl.oauthbearer.client.id and "
           "kafka.sasl.oauthbearer.client.secret";
  if (has(words, "invalid_scope"))
    return "the token server refuses the scope; check kafka.sasl.oauthbearer.scope";
  if (has(words, "certificate has expired"))
    return "the certificate of the token server has expired; renew that certificate";
  if (has(words, "no alternative certificate"))
    return "the certificate of the token server is for another host than the one in " +
           std::string(token_url);
  if (has(words, "SSL certificate problem"))
    return "the certificate of the token server is refused; name the file of its authority in "
           "kafka.https.ca.location";
  if (has(words, "SSL") || has(words, "wrong version number"))
    return "the token server does not speak TLS as expected; check whether "
           "kafka.sasl.oauthbearer.token.endpoint.url has to begin with http or with https";
  if (has(words, "onnect") || has(words, "resolve") || has(words, "timed out"))
    return std::string("the token server cannot be reached; check that it runs, and ") + token_url +
           until_the_token_expires;
  return std::string("the token server issues no token; check ") + token_url + until_the_token_expires;
}

/// Explains the exit code: that of a shell, or of timeout(1), which runs kinit (handle.cpp).
std::string kinit_trouble(std::string_view words) {
  const auto code = after(words, "exited with code ", " ");
  if (code == "127") return "kinit is not installed; install the package krb5-user";
  const std::string until = "; an existing ticket remains in use until it expires, and kinit runs again";
  if (code == "124")
    return "kinit got no ticket: no KDC answered in time; check the realm in /etc/krb5.conf, and "
           "that its KDC runs" +
           until;
  return "kinit got no ticket; kinit prints the reason on standard error; check "
         "kafka.sasl.kerberos.principal and kafka.sasl.kerberos.keytab" +
         until;
}

/// Explains an error of Kerberos on this machine, before a broker is asked.
std::optional<std::string> ticket_trouble(std::string_view words) {
  if (has(words, "Kerberos ticket refresh failed")) return kinit_trouble(words);
  if (!has(words, "GSSAPI Error")) return std::nullopt;
  if (has(words, "No Kerberos credentials") || has(words, "No credentials were supplied"))
    return "there is no Kerberos ticket; check kafka.sasl.kerberos.principal and kafka.sasl.kerberos.keytab "
           "with kinit -k -t KEYTAB PRINCIPAL, or keep a ticket fresh with k5start";
  if (has(words, "not found in Kerberos database"))
    return "Kerberos knows no principal " + std::string(after(words, "(Server ", " ")) +
           "; check kafka.sasl.kerberos.service.name, and that kafka.bootstrap.servers and "
           "advertised.listeners use the host names of the brokers' principals";
  if (has(words, "expired"))
    return "the Kerberos ticket has expired, and was not renewed; check with "
           "kinit -k -t KEYTAB PRINCIPAL that a KDC answers and accepts kafka.sasl.kerberos.keytab";
  if (has(words, "Cannot contact any KDC"))
    return "no KDC answers; check the realm in /etc/krb5.conf, and that its KDC runs";
  if (has(words, "Clock skew"))
    return "the clocks of this machine and of the KDC or the broker differ; correct the clocks";
  return "Kerberos issues no ticket for the broker";
}

/// Explains a mechanism that the listener does not offer.
std::optional<std::string> mechanism_trouble(std::string_view words, const std::string& broker) {
  if (!has(words, handshake)) return std::nullopt;
  const bool again = !has(words, "/bootstrap: ");
  if (has(words, "not valid in current SASL state") && again)
    return broker +
           " ended the login because the token expires, and no newer token was issued; see the log for "
           "messages about the token server";
  if (has(words, "not valid in current SASL state"))
    return broker + " expects no login on this port; set kafka.security.protocol to " +
           (over_tls(words) ? "ssl" : "plaintext") +
           " and remove the login, or give the port of a listener with a login in kafka.bootstrap.servers";
  const std::string mechanism(after(words, "SASL ", " "));
  const std::string offered(after(words, "supported mechanisms: ", " ("));
  return broker + " does not offer " + mechanism + " on this port, only " + offered +
         "; set kafka.sasl.mechanism to an offered mechanism, or give another port in "
         "kafka.bootstrap.servers";
}

/// Explains why the broker refuses the credentials.
std::optional<std::string> credentials_trouble(std::string_view words, const std::string& broker) {
  const std::string check =
      " refuses the user or the password; check kafka.sasl.username and kafka.sasl.password";
  if (has(words, "Invalid username or password")) return broker + check;
  const auto mechanism = after(words, "invalid credentials with SASL mechanism ", " ");
  if (mechanism == "GSSAPI")
    return broker +
           " refuses the Kerberos ticket: the broker's key table lacks the key that the KDC has for "
           "the broker, or the clocks differ; the broker's log has the reason";
  if (!mechanism.empty())
    return broker + check + ", and that the user has a password for " + std::string(mechanism) +
           " (each mechanism has its own)";
  if (has(words, "invalid_token"))
    return broker +
           " refuses the token: the token has expired and was not renewed, or its signature, issuer, "
           "audience or scope is not what the broker expects; compare "
           "kafka.sasl.oauthbearer.token.endpoint.url and the scope with the broker's sasl.oauthbearer "
           "settings";
  return std::nullopt;
}

/// A listener that requires a login closes the connection of a client that begins without one. Newer releases
/// report only the closed connection.
std::optional<std::string> missing_login(std::string_view words, const std::string& broker) {
  const bool too_early =
      hung_up(words) && has(words, "in state UP") && has(words, "/bootstrap: ") && !has(words, "sasl_");
  if (!too_early && !has(words, "broker might require SASL authentication")) return std::nullopt;
  return broker + " seems to expect a login on this port; set kafka.security.protocol to " +
         (over_tls(words) ? "sasl_ssl" : "sasl_plaintext") +
         " and kafka.sasl.mechanism, or give the port of a listener without a login in "
         "kafka.bootstrap.servers";
}

}  // namespace

bool refused_by_broker(std::string_view words) {
  return (has(words, "SASL authentication error") && !cut_short(words)) || has(words, handshake);
}

std::optional<std::string> login_trouble(std::string_view words) {
  if (auto token = token_trouble(words)) return token;
  if (auto ticket = ticket_trouble(words)) return ticket;
  const auto broker = "broker " + broker_in(words);
  if (cut_short(words)) return broker + " has ended the connection during the login; the client tries again";
  if (auto mechanism = mechanism_trouble(words, broker)) return mechanism;
  if (auto credentials = credentials_trouble(words, broker)) return credentials;
  return missing_login(words, broker);
}

}  // namespace laneway::kafka
