#include "kafka/client/connection_trouble.h"

#include <string_view>

#include "kafka/access/certificate.h"
#include "kafka/access/client_words.h"
#include "kafka/access/login_trouble.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/client/handle.h"

namespace laneway::kafka {

ConnectionTrouble::ConnectionTrouble(const ClientSettings& settings)
    : bootstrap_(setting_of(settings, "bootstrap.servers")),
      user_(setting_of(settings, "sasl.username")),
      certificate_file_(setting_of(settings, "ssl.certificate.location")) {}

void ConnectionTrouble::failed(int code, const std::string& words) {
  const bool consequence = code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || has(words, "Send failed: ");
  const bool late = code == RD_KAFKA_RESP_ERR__TIMED_OUT || has(words, "timed out");
  if (consequence || (late && !words_.empty())) return;  // a time-out says less than what came before it
  code_ = code;
  words_ = words;
}

void ConnectionTrouble::logged(const char* facility, const std::string& words) {
  const std::string_view about(facility);
  MutexLock lock(mutex_);
  if (about == "SASLREFRESH" || about == "OIDC") no_credentials_ = words;
  if (about == "FAIL" && has(words, "Disconnected: ") && explained(words) != words) hung_up_ = words;
}

void ConnectionTrouble::answered() {
  code_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  words_.clear();
  MutexLock lock(mutex_);
  hung_up_.clear();
  no_credentials_.clear();
}

/// The brokers have not been asked yet, because the credentials could not be obtained.
bool ConnectionTrouble::no_credentials() const {
  MutexLock lock(mutex_);
  return words_.empty() && !no_credentials_.empty();
}

Error ConnectionTrouble::no_login() const {
  const std::string user = user_.empty() ? "" : " of user " + user_;
  const auto head = refused_by_broker(words_)
                        ? "the brokers at " + bootstrap_ + " refuse the login" + user + ": "
                        : "the login" + user + " to the brokers at " + bootstrap_ + " failed: ";
  MutexLock lock(mutex_);
  const auto why = explained(no_credentials_.empty() ? words_ : no_credentials_);
  return {ErrorKind::unavailable, head + why,
          why == words_ ? missing_right(RD_KAFKA_RESP_ERR__AUTHENTICATION) : ""};
}

Error ConnectionTrouble::no_answer(rd_kafka_resp_err_t code) const {
  if (login_refused() || no_credentials()) return no_login();
  MutexLock lock(mutex_);
  const std::string& words = words_.empty() ? hung_up_ : words_;
  const auto head = "the brokers at " + bootstrap_ + " do not answer: ";
  if (words.empty())
    return {ErrorKind::unavailable, head + rd_kafka_err2str(code),
            "check kafka.bootstrap.servers and that the brokers run"};
  const auto why = explained(words);
  std::string hint = why == words ? "check kafka.bootstrap.servers and that the brokers run" : "";
  if (about_own_certificate(words) && !certificate_file_.empty())
    hint = certificate_file_ + " holds " + certificate_in(certificate_file_);
  return {ErrorKind::unavailable, head + connection_failure(why, bootstrap_), hint};
}

}  // namespace laneway::kafka
