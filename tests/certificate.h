// Keys and certificates for tests over TLS.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "catch.h"

namespace laneway {

/// A key and its certificate.
class Certificate {
 public:
  /// For `host` and some hours from now; signed by `issuer`, or by itself.
  explicit Certificate(const char* host = "IP:127.0.0.1", long hours = 1, const Certificate* issuer = nullptr)
      : Certificate(Name{"test"}, hours, issuer) {
    extend(NID_subject_alt_name, host);
    sign(issuer);
  }
  /// With a key of RSA, which old versions of TLS can use without a signature.
  static Certificate rsa() {
    Certificate made(Name{"test"}, 1, nullptr, EVP_RSA_gen(2048));
    made.extend(NID_subject_alt_name, "IP:127.0.0.1");
    made.sign(nullptr);
    return made;
  }
  /// One that may issue others.
  static Certificate authority(const char* name, const Certificate* issuer = nullptr, long hours = 1) {
    Certificate made(Name{name}, hours, issuer);
    made.extend(NID_basic_constraints, "critical,CA:TRUE");
    made.sign(issuer);
    return made;
  }

  X509* x509() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  std::string pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    REQUIRE(PEM_write_bio_X509(out.get(), x509()) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
  }
  /// Of the key; encrypted where there is a password.
  std::string key_pem(const std::string& password = {}) const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    const auto* bytes = reinterpret_cast<const unsigned char*>(password.data());
    REQUIRE(PEM_write_bio_PrivateKey(out.get(), key(), password.empty() ? nullptr : EVP_aes_128_cbc(),
                                     password.empty() ? nullptr : bytes, static_cast<int>(password.size()),
                                     nullptr, nullptr) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
  }
  std::string der() const {
    unsigned char* bytes = nullptr;
    const int size = i2d_X509(x509(), &bytes);
    REQUIRE(size > 0);
    const std::string der(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return der;
  }

 private:
  struct Name {
    const char* text;
  };
  Certificate(Name name, long hours, const Certificate* issuer, EVP_PKEY* key_made = EVP_EC_gen("P-256"))
      : key_(key_made, EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    X509_set_version(x509(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509()), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509()), -3 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(x509()), hours * 3600);
    X509_set_pubkey(x509(), key());
    const auto* text = reinterpret_cast<const unsigned char*>(name.text);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509()), "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(x509(), X509_get_subject_name(issuer == nullptr ? x509() : issuer->x509()));
  }
  void extend(int kind, const char* value) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, kind, value), X509_EXTENSION_free);
    REQUIRE(X509_add_ext(x509(), extension.get(), -1) == 1);
  }
  void sign(const Certificate* issuer) {
    REQUIRE(X509_sign(x509(), issuer == nullptr ? key() : issuer->key(), EVP_sha256()) > 0);
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

}  // namespace laneway
