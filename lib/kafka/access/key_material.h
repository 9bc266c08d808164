// Private keys, certificates and key stores as OpenSSL reads them. Private to this folder. Pure.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

namespace laneway::kafka {

using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

/// Reads the first certificate of a PEM text; returns nullptr if there is no certificate.
CertificatePtr read_certificate(const std::string& pem);
/// Reads the first private key; returns nullptr if there is no key, or if the password is wrong.
KeyPtr read_key(const std::string& pem, const std::string& password);
bool belong_together(X509& certificate, EVP_PKEY& key);

enum class KeyStoreFailure : std::uint8_t { none, no_key_store, wrong_password, unreadable };
struct KeyStore {
  KeyStoreFailure failure = KeyStoreFailure::none;
  CertificatePtr certificate{nullptr, X509_free};  ///< set, together with a key, if there is no failure
};
/// Opens a key store in PKCS#12 format.
KeyStore open_key_store(const std::string& content, const std::string& password);

struct CertificateDates {
  std::chrono::system_clock::time_point begin, end;
};
CertificateDates dates_of(const X509& certificate);

/// Describes the certificate: its subject, its issuer, and until when it is or was valid, or from when on it
/// will be.
std::string description_of(const X509& certificate, std::time_t now);

}  // namespace laneway::kafka
