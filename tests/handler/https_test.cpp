// The http handler's requests over TLS.
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

/// A key and a certificate for 127.0.0.1 that it signed itself.
class Certificate {
 public:
  Certificate() : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    X509_set_version(certificate_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 3600);
    X509_set_pubkey(certificate_.get(), key_.get());
    X509_NAME* name = X509_get_subject_name(certificate_.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1,
                               -1, 0);
    X509_set_issuer_name(certificate_.get(), name);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> host(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"), X509_EXTENSION_free);
    X509_add_ext(certificate_.get(), host.get(), -1);
    REQUIRE(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
  }

  X509* x509() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  std::string pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    REQUIRE(PEM_write_bio_X509(out.get(), certificate_.get()) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
  }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

/// Takes every POST, and keeps its Authorization.
class TlsServer {
 public:
  explicit TlsServer(const Certificate& certificate) : server_(certificate.x509(), certificate.key()) {
    server_.Post("/orders", [this](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      for (const auto& [name, value] : request.headers)
        if (name == "Authorization") authorizations_.push_back(value);
      response.status = 204;
    });
    server_.set_keep_alive_max_count(1000000);
    server_.new_task_queue = [] { return new httplib::ThreadPool(64); };  // a connection keeps its thread
    port_ = server_.bind();
    REQUIRE(port_ > 0);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~TlsServer() {
    server_.stop();
    thread_.join();
  }
  TlsServer(const TlsServer&) = delete;

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/orders"; }
  std::vector<std::string> authorizations() {
    std::lock_guard lock(mutex_);
    return authorizations_;
  }

 private:
  WithRoom<httplib::SSLServer> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> authorizations_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a web service is trusted by its own authority's certificate, and by no other") {
  const Certificate its_own, another;
  TlsServer server(its_own);
  auto settings = settings_for(server.url());
  settings.ca = its_own.pem();
  CHECK(Runs(*made(settings), 40).done() == 40);
  settings.ca = another.pem();
  const auto refused = outcome_of(*made(settings), record_data(1, "v"));
  CHECK(refused.verdict == Verdict::unavailable);
  CHECK(refused.reason.find("certificate") != std::string::npos);
  settings.ca.clear();
  CHECK(outcome_of(*made(settings), record_data(1, "v")).verdict == Verdict::unavailable);
}

TEST_CASE("requests carry the authorization that is configured, once each, batches too") {
  const Certificate certificate;
  TlsServer server(certificate);
  auto settings = settings_for(server.url());
  settings.ca = certificate.pem();
  settings.authorization = "Bearer abc def";
  CHECK(Runs(*made(settings), 3).done() == 3);
  settings.batch.records = 3;
  CHECK(Runs(*made(settings), 3).done() == 3);
  CHECK(server.authorizations() == std::vector<std::string>(4, "Bearer abc def"));
}
