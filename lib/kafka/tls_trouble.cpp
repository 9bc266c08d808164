#include "kafka/tls_trouble.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "kafka/certificate.h"

namespace laneway::kafka {
namespace {

/// Of the certificates that brokers showed last, those that were refused. The library's error, which comes on
/// another way, names only the broker.
class RefusedCertificates {
 public:
  void note(const std::string& broker, std::optional<std::string> problem) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (problem)
      problems_[broker] = std::move(*problem);
    else
      problems_.erase(broker);
  }
  /// That of a broker which is named in `words`.
  std::optional<std::string> find(std::string_view words) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (const auto& [broker, problem] : problems_)
      if (words.find(broker + "/") != words.npos || words.find(broker + ":") != words.npos)
        return "broker " + broker + ": " + problem;
    return std::nullopt;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> problems_ GUARDED_BY(mutex_);  // by host:port
};

RefusedCertificates& refused_certificates() {
  static RefusedCertificates all;
  return all;
}

/// On a client's thread, for each certificate of the chain, until one is refused.
int verified(rd_kafka_t*, const char* broker, std::int32_t, int* error, int depth, const char* der,
             std::size_t size, char*, std::size_t, void*) {
  if (*error != 0) refused_certificates().note(broker, certificate_problem(*error, depth, {der, size}));
  if (*error == 0 && depth == 0) refused_certificates().note(broker, std::nullopt);
  return *error == 0 ? 1 : 0;
}

bool has(std::string_view words, std::string_view part) { return words.find(part) != words.npos; }

/// "ssl://kafka-1:9093/bootstrap: …" and "kafka-1:9092/1: …" are about the broker kafka-1:9093, or 9092.
std::string broker_in(std::string_view words) {
  const auto scheme = words.find("://");
  if (scheme != words.npos) words.remove_prefix(scheme + 3);
  return std::string(words.substr(0, std::min(words.find('/'), words.find(": "))));
}

/// The beginning of a TLS alert, read as the length of an answer of Kafka's.
bool is_alert(std::string_view words) {
  constexpr std::string_view before = "Invalid response size ";
  const auto at = words.find(before);
  if (at == words.npos) return false;
  const auto digits = words.substr(at + before.size());
  std::uint32_t size = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  return code == std::errc() && size >> 16 == 0x1503;
}

/// What to do, where the two sides do not agree about TLS.
std::optional<std::string> mismatch(std::string_view words) {
  const bool hung_up = has(words, "unexpected eof while reading") && has(words, "in state SSL_HANDSHAKE");
  if (hung_up || has(words, "connecting to a PLAINTEXT broker listener") ||
      has(words, "wrong version number"))
    return "seems not to speak TLS on this port; give the port of a TLS listener in kafka.bootstrap.servers, "
           "or "
           "set kafka.security.protocol to plaintext (with a login: sasl_plaintext)";
  if (has(words, "connecting to a SSL listener") || is_alert(words))
    return "seems to expect TLS on this port; set kafka.security.protocol to ssl (with a login: sasl_ssl), "
           "or "
           "give the port of a listener without TLS in kafka.bootstrap.servers";
  if (has(words, "alert certificate required") || has(words, "alert bad certificate"))
    return "wants a certificate of the client, or another one; set kafka.ssl.certificate.location and "
           "kafka.ssl.key.location";
  return std::nullopt;
}

}  // namespace

void note_certificates(rd_kafka_conf_t* conf) { rd_kafka_conf_set_ssl_cert_verify_cb(conf, verified); }

std::string explained(const std::string& words) {
  if (has(words, "certificate verify failed"))
    if (auto refused = refused_certificates().find(words)) return *refused;
  const auto what = mismatch(words);
  return what ? "broker " + broker_in(words) + " " + *what + " (" + words + ")" : words;
}

}  // namespace laneway::kafka
