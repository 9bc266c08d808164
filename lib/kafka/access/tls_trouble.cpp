#include "kafka/access/tls_trouble.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/mutex.h"
#include "kafka/access/certificate.h"
#include "kafka/access/client_words.h"
#include "kafka/access/login_trouble.h"

namespace laneway::kafka {
namespace {

/// What is known of the brokers, by HOST:PORT.
class Brokers {
 public:
  /// The problem of the last certificate that the broker sent. The library's error, which arrives separately,
  /// names only the broker.
  void note_certificate(const std::string& broker, std::optional<std::string> problem) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (problem)
      problems_[broker] = std::move(*problem);
    else
      problems_.erase(broker);
  }
  /// The problem of a broker that is named in `words`.
  std::optional<std::string> refused_certificate(std::string_view words) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (const auto& [broker, problem] : problems_)
      if (words.find(broker + "/") != words.npos || words.find(broker + ":") != words.npos)
        return "broker " + broker + ": " + problem;
    return std::nullopt;
  }
  /// A connection to the broker has worked.
  void note_connection(const std::string& broker) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (connected_.size() < most) connected_.insert(broker);
  }
  bool worked(const std::string& broker) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return connected_.contains(broker);
  }

 private:
  static constexpr std::size_t most = 10000;
  mutable Mutex mutex_;
  std::map<std::string, std::string> problems_ GUARDED_BY(mutex_);
  std::set<std::string> connected_ GUARDED_BY(mutex_);
};

Brokers& brokers() {
  static Brokers all;
  return all;
}

/// Called on a client's thread, for each certificate of the chain until one is refused.
int verified(rd_kafka_t*, const char* broker, std::int32_t, int* error, int depth, const char* der,
             std::size_t size, char*, std::size_t, void*) {
  if (*error != 0) brokers().note_certificate(broker, certificate_problem(*error, depth, {der, size}));
  if (*error == 0 && depth == 0) brokers().note_certificate(broker, std::nullopt);
  return *error == 0 ? 1 : 0;
}

/// The first four bytes of an answer that is not Kafka's, which the client took for the length of the answer.
std::uint32_t taken_for_length(std::string_view words) {
  const auto digits = after(words, "Invalid response size ", " ");
  std::uint32_t size = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), size);
  return size;
}

bool is_alert(std::string_view words) { return taken_for_length(words) >> 16 == 0x1503; }  // an alert of TLS
bool is_http(std::string_view words) { return taken_for_length(words) == 0x48545450; }     // "HTTP"

/// A connection that ends without a word of the other side. What that means is not known: a listener of
/// another protocol hangs up, and so does a forwarder that accepts connections for brokers that do not run.
std::string closed_at_once(const char* expects, const char* instead) {
  return std::string(
             "closed the connection without an answer: either no broker runs behind this address, and "
             "a load balancer, a proxy or a tunnel accepts connections for it, or the port ") +
         expects + "; check that the broker runs, else set kafka.security.protocol to " + instead +
         ", or give the port of another listener in kafka.bootstrap.servers";
}

/// What to do if the two sides do not agree about TLS.
std::optional<std::string> mismatch(std::string_view words) {
  // A broker that worked before is ending or starting.
  const bool known = brokers().worked(broker_in(words));
  const bool hung_up_at_first = hung_up(words) && !known;
  if (has(words, "wrong version number"))
    return "seems not to speak TLS on this port; give the port of a TLS listener in kafka.bootstrap.servers, "
           "or set kafka.security.protocol to plaintext (with a login: sasl_plaintext)";
  const bool in_handshake = has(words, "in state SSL_HANDSHAKE") &&
                            (has(words, "unexpected eof while reading") || hung_up_at_first);
  if (in_handshake || has(words, "connecting to a PLAINTEXT broker listener"))
    return closed_at_once("does not speak TLS", "plaintext (with a login: sasl_plaintext)");
  if (is_alert(words))
    return "expects TLS on this port; set kafka.security.protocol to ssl (with a login: sasl_ssl), or give "
           "the "
           "port of a listener without TLS in kafka.bootstrap.servers";
  const bool too_early = hung_up_at_first && has(words, "in state APIVERSION_QUERY") && !has(words, "ssl://");
  if (too_early || has(words, "connecting to a SSL listener"))
    return closed_at_once("expects TLS", "ssl (with a login: sasl_ssl)");
  if (is_http(words))
    return "answers in HTTP, so it is a web server or a proxy and not a Kafka broker; correct "
           "kafka.bootstrap.servers, or advertised.listeners of the brokers";
  if (has(words, "alert certificate required") || has(words, "alert bad certificate"))
    return "requires a client certificate, or a different one; set kafka.ssl.certificate.location and "
           "kafka.ssl.key.location";
  if (about_own_certificate(words))
    return "does not accept the client's certificate: the certificate has expired, or the broker does not "
           "trust its authority; renew the certificate that kafka.ssl.certificate.location names, or use a "
           "certificate of another authority";
  return std::nullopt;
}

}  // namespace

bool about_own_certificate(std::string_view words) {
  for (const auto* reason : {"unknown", "expired", "revoked", "required"})
    if (has(words, std::string("alert certificate ") + reason)) return true;
  return has(words, "alert unknown ca") || has(words, "alert bad certificate");
}

void note_connection(const std::string& broker) { brokers().note_connection(broker); }

void note_certificates(rd_kafka_conf_t* conf) { rd_kafka_conf_set_ssl_cert_verify_cb(conf, verified); }

std::string explained(const std::string& words) {
  if (has(words, "certificate verify failed"))
    if (auto refused = brokers().refused_certificate(words)) return *refused;
  if (const auto login = login_trouble(words)) return *login + " (" + words + ")";
  const auto what = mismatch(words);
  return what ? "broker " + broker_in(words) + " " + *what + " (" + words + ")" : words;
}

}  // namespace laneway::kafka
