// The http handler's requests over TLS.
#include <curl/curl.h>
#include <httplib.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "captured_log.h"
#include "certificate.h"
#include "curl/connection_problem.h"
#include "curl/easy_handle.h"
#include "handler/http/http.h"
#include "handler/http/http_endpoint.h"
#include "handler/registry.h"
#include "tracing/span_exporter.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

/// Takes every POST, and keeps its Authorization.
class TlsServer {
 public:
  explicit TlsServer(const Certificate& certificate, int newest = 0)
      : server_(certificate.x509(), certificate.key()) {
    if (newest !=
        0) {  // an old server: security level 0, and ciphers without signatures, which OpenSSL 3 allows
      SSL_CTX_set_min_proto_version(server_.ssl_context(), TLS1_VERSION);
      SSL_CTX_set_max_proto_version(server_.ssl_context(), newest);
      SSL_CTX_set_cipher_list(server_.ssl_context(), "AES256-SHA:@SECLEVEL=0");
    }
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

TEST_CASE("a web service is trusted by the certificate of its own authority only") {
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

TEST_CASE("a web service and a collector that speak only TLS 1.1 or 1.0 get no request") {
  const auto certificate = Certificate::rsa();
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION}) {
    TlsServer server(certificate, version);
    auto settings = settings_for(server.url());
    settings.ca = certificate.pem();
    const auto outcome = outcome_of(*made(settings), record_data(1, "v"));
    const CapturedLog log;
    tracing::SpanExporter({.url = server.url(),
                           .service = "laneway",
                           .group = "billing",
                           .headers = {{"Authorization", "x"}},
                           .authorities = certificate.pem(),
                           .limit = patience})
        .add({});
    INFO(outcome.reason);
    CHECK((outcome.verdict == Verdict::done) == (version == TLS1_2_VERSION));
    CHECK(server.authorizations().size() == (version == TLS1_2_VERSION ? 1U : 0U));
    CHECK(log.lines({"spans not accepted"}) == (version == TLS1_2_VERSION ? 0 : 1));
  }
}

namespace {

/// The subject of some authority that the system trusts; null where it trusts none.
std::unique_ptr<X509_NAME, decltype(&X509_NAME_free)> authority_of_system() {
  std::unique_ptr<X509_NAME, decltype(&X509_NAME_free)> name(nullptr, X509_NAME_free);
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator("/etc/ssl/certs", none)) {
    if (file.path().extension() != ".0") continue;  // named by its subject's hash, as OpenSSL looks for it
    const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_file(file.path().c_str(), "r"), BIO_free);
    const std::unique_ptr<X509, decltype(&X509_free)> found(
        in ? PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
    if (!found) continue;
    name.reset(X509_NAME_dup(X509_get_subject_name(found.get())));
    break;
  }
  return name;
}

struct Question {
  X509_NAME* name;
  bool found = false;
};

/// In the place of the verification: what libcurl trusts has been read by then.
int look_for(X509_STORE_CTX* verified, void* question_pointer) {
  auto& question = *static_cast<Question*>(question_pointer);
  const std::unique_ptr<X509_OBJECT, decltype(&X509_OBJECT_free)> object(X509_OBJECT_new(), X509_OBJECT_free);
  question.found = X509_STORE_CTX_get_by_subject(verified, X509_LU_X509, question.name, object.get()) == 1;
  return 1;
}

CURLcode ask(CURL*, void* context, void* question) {
  SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), &look_for, question);
  return CURLE_OK;
}

/// Whether a connection with `ca` would trust an authority of that name.
bool trusts(const std::string& ca, const std::string& url, X509_NAME* name) {
  Question question{name};
  curl::EasyHandle easy(url);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  easy.trust(ca);
  curl_easy_setopt(easy.get(), CURLOPT_SSL_CTX_DATA, &question);
  curl_easy_setopt(easy.get(), CURLOPT_SSL_CTX_FUNCTION, &ask);
  CHECK(curl_easy_perform(easy.get()) == CURLE_OK);
  return question.found;
}

}  // namespace

TEST_CASE("the configured file of authorities replaces those of the system") {
  const auto name = authority_of_system();
  if (!name) return;  // this machine trusts nobody
  const Certificate its_own;
  TlsServer server(its_own);
  CHECK(trusts("", server.url(), name.get()));
  CHECK_FALSE(trusts(its_own.pem(), server.url(), name.get()));
}

TEST_CASE("a wrong certificate is reported with the remedy") {
  const auto refused = [](const Certificate& own, const Certificate& trusted) {
    TlsServer server(own);
    auto settings = settings_for(server.url());
    settings.ca = trusted.pem();
    const auto outcome = outcome_of(*made(settings), record_data(1, "v"));
    CHECK(outcome.verdict == Verdict::unavailable);
    const auto connect = reach(settings, seconds(60));
    REQUIRE_FALSE(connect.ok());
    const auto said = outcome.reason.substr(outcome.reason.find(": ") + 2);
    CHECK_THAT(connect.error().message, Catch::EndsWith(said));
    return said;
  };
  const Certificate right, other_host("DNS:shop.example"), expired("IP:127.0.0.1", -1);
  CHECK_THAT(refused(right, other_host),
             Catch::StartsWith("its certificate was issued by an authority that is not trusted here") &&
                 Catch::Contains("handler.http.ca_file"));
  CHECK_THAT(refused(other_host, other_host), Catch::StartsWith("its certificate is for another host name") &&
                                                  Catch::Contains("handler.http.url"));
  CHECK_THAT(refused(expired, expired),
             Catch::StartsWith("its certificate, or one of its authorities, has expired; renew"));
}

TEST_CASE("a collector with a refused certificate is reported with the remedy") {
  const Certificate certificate;
  const TlsServer server(certificate);
  const CapturedLog log;
  tracing::SpanExporter({.url = server.url(), .service = "laneway", .group = "billing", .limit = patience})
      .add({});
  // A machine without the package ca-certificates has no authorities at all.
  const auto why = authority_of_system()
                       ? "its certificate was issued by an authority that is not trusted here"
                       : "install the package ca-certificates";
  CHECK(log.lines({"spans not accepted", why, "trace.ca_file"}) == 1);
}

TEST_CASE("a missing file of authorities is reported with the remedy") {
  const auto said = curl::connection_problem(nullptr, CURLE_SSL_CACERT_BADFILE,
                                             "error setting certificate file: x", http_connection_keys);
  CHECK_THAT(said, Catch::StartsWith("the file of certificate authorities cannot be used") &&
                       Catch::Contains("install the package ca-certificates") &&
                       Catch::Contains("handler.http.ca_file (error setting certificate file: x)"));
}

TEST_CASE("requests carry the configured authorization once, also in batches") {
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
