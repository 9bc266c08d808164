#include "kafka/access/certificate.h"

#include <arpa/inet.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>

#include "config/yaml/read_file.h"
#include "kafka/access/key_material.h"

namespace laneway::kafka {
namespace {

constexpr int most_names = 8;

using TextPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

CertificatePtr read(std::string_view der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return {d2i_X509(nullptr, &bytes, static_cast<long>(der.size())), X509_free};
}

/// The text that `print` writes.
template <class Print>
std::string printed(Print print) {
  const TextPtr out(BIO_new(BIO_s_mem()), BIO_free);
  if (!out) return {};
  print(out.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string text_of(const X509_NAME* name) {
  return printed([&](BIO* out) { X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253); });
}

std::string text_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable date";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string text_of(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS)
    return printed([&](BIO* out) { ASN1_STRING_print_ex(out, name.d.dNSName, ASN1_STRFLGS_ESC_CTRL); });
  if (name.type != GEN_IPADD) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(name.d.iPAddress) == 4 ? AF_INET : AF_INET6;
  const auto size = static_cast<socklen_t>(text.size());
  const auto* bytes = ASN1_STRING_get0_data(name.d.iPAddress);
  return inet_ntop(family, bytes, text.data(), size) == nullptr ? std::string() : text.data();
}

/// The hosts that the certificate is valid for. Without alternative names the subject counts, as in OpenSSL.
std::string hosts_of(const X509* certificate) {
  const NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::string hosts;
  for (int i = 0; names && i < std::min(sk_GENERAL_NAME_num(names.get()), most_names); ++i) {
    const auto host = text_of(*sk_GENERAL_NAME_value(names.get(), i));
    if (!host.empty()) hosts += (hosts.empty() ? "" : ", ") + host;
  }
  return hosts.empty() ? text_of(X509_get_subject_name(certificate)) : hosts;
}

}  // namespace

std::string certificate_problem(int error, int depth, std::string_view der) {
  const auto certificate = read(der);
  if (!certificate) return "its certificate cannot be read";
  const std::string whose =
      depth == 0 ? "its certificate"
                 : "the certificate of its authority " + text_of(X509_get_subject_name(certificate.get()));
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return whose + " expired on " + text_of(X509_get0_notAfter(certificate.get())) +
             "; renew the certificate";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return whose + " is not valid before " + text_of(X509_get0_notBefore(certificate.get())) +
             "; compare the clocks of the broker and of this machine";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate is for other names: " + hosts_of(certificate.get()) +
             "; use one of these in kafka.bootstrap.servers and in the broker's advertised.listeners, or "
             "have the certificate issued for the name in use";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return whose + " was issued by " + text_of(X509_get_issuer_name(certificate.get())) +
             ", an authority that is not trusted here; add the certificate of that authority to the file "
             "that kafka.ssl.ca.location names";
    default:
      return whose + " is refused: " + X509_verify_cert_error_string(error);
  }
}

std::string description_of(const X509& certificate, std::time_t now) {
  const auto dates = dates_of(certificate);
  const auto moment = std::chrono::system_clock::from_time_t(now);
  const auto whose = "the certificate of " + text_of(X509_get_subject_name(&certificate)) + ", issued by " +
                     text_of(X509_get_issuer_name(&certificate));
  if (dates.begin > moment)
    return whose + ", is not valid before " + text_of(X509_get0_notBefore(&certificate));
  return whose + (dates.end <= moment ? ", which expired on " : ", valid until ") +
         text_of(X509_get0_notAfter(&certificate));
}

std::string certificate_in(const std::string& file) {
  const auto text = config::read_file(file);
  const auto certificate = text ? read_certificate(*text) : CertificatePtr(nullptr, X509_free);
  return certificate ? description_of(*certificate, std::time(nullptr)) : "no readable certificate";
}

}  // namespace laneway::kafka
