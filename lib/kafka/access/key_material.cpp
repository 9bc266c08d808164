#include "kafka/access/key_material.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include <cstring>

#include "kafka/access/certificate.h"

namespace laneway::kafka {
namespace {

using MemoryPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using KeyStorePtr = std::unique_ptr<PKCS12, decltype(&PKCS12_free)>;

/// OpenSSL keeps a list of errors for each thread, and the client library would report ours as its own.
struct ForgetErrors {
  ForgetErrors() = default;
  ForgetErrors(const ForgetErrors&) = delete;
  ForgetErrors& operator=(const ForgetErrors&) = delete;
  ~ForgetErrors() { ERR_clear_error(); }
};

MemoryPtr memory(const std::string& content) {
  return {BIO_new_mem_buf(content.data(), static_cast<int>(content.size())), BIO_free};
}

/// Gives the password, so that OpenSSL does not ask for it on the terminal.
int give_password(char* buffer, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.empty() || text.size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(buffer, text.data(), text.size());
  return static_cast<int>(text.size());
}

std::chrono::system_clock::time_point time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

}  // namespace

CertificatePtr read_certificate(const std::string& pem) {
  const ForgetErrors forget;
  const auto in = memory(pem);
  return {PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr), X509_free};
}

KeyPtr read_key(const std::string& pem, const std::string& password) {
  const ForgetErrors forget;
  const auto in = memory(pem);
  auto secret = password;
  return {PEM_read_bio_PrivateKey(in.get(), nullptr, give_password, &secret), EVP_PKEY_free};
}

bool belong_together(X509& certificate, EVP_PKEY& key) {
  const ForgetErrors forget;
  return X509_check_private_key(&certificate, &key) == 1;
}

KeyStore open_key_store(const std::string& content, const std::string& password) {
  const ForgetErrors forget;
  const auto in = memory(content);
  const KeyStorePtr store(d2i_PKCS12_bio(in.get(), nullptr), PKCS12_free);
  if (!store) return {.failure = KeyStoreFailure::no_key_store};
  if (PKCS12_verify_mac(store.get(), password.c_str(), -1) != 1)
    return {.failure = KeyStoreFailure::wrong_password};
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  const bool parsed = PKCS12_parse(store.get(), password.c_str(), &key, &certificate, nullptr) == 1;
  const KeyPtr key_owner(key, EVP_PKEY_free);
  CertificatePtr owner(certificate, X509_free);
  if (!parsed || key == nullptr || certificate == nullptr) return {.failure = KeyStoreFailure::unreadable};
  return {KeyStoreFailure::none, std::move(owner)};
}

CertificateDates dates_of(const X509& certificate) {
  return {time_of(X509_get0_notBefore(&certificate)), time_of(X509_get0_notAfter(&certificate))};
}

}  // namespace laneway::kafka
