#include "curl/connection_problem.h"

#include <curl/curl.h>

namespace laneway::curl {
namespace {

/// `result`: OpenSSL's result of the verification (openssl/x509_vfy.h).
std::string certificate_problem(long result, ConnectionKeys keys) {
  switch (result) {
    case 0:
    case 1:  // the chain is valid: libcurl itself compares the name
    case 62:
    case 64:
      return std::string("its certificate is for another host name; use a name of the certificate in ") +
             keys.url + ", or have the certificate issued for this name";
    case 9:
      return "its certificate is not valid yet; compare the clocks of both machines";
    case 10:
      return "its certificate, or one of its authorities, has expired; renew the certificate of the server";
    case 2:
    case 18:
    case 19:
    case 20:
    case 21:
      return std::string(
                 "its certificate was issued by an authority that is not trusted here; add the certificate "
                 "of that authority ") +
             keys.authorities;
    default:
      return "its certificate is refused";
  }
}

/// In the words of OpenSSL: an answer in HTTP, or a connection that was closed in the handshake.
bool speaks_no_tls(const std::string& text) {
  for (const auto* words :
       {"wrong version number", "packet length too long", "SSL_ERROR_SYSCALL", "unexpected eof"})
    if (text.find(words) != text.npos) return true;
  return false;
}

}  // namespace

std::string connection_problem(void* easy, int code, const std::string& text, ConnectionKeys keys) {
  if (code == CURLE_SSL_CACERT_BADFILE)
    return std::string(
               "the file of certificate authorities cannot be used; install the package ca-certificates, or "
               "add the certificate of the server's authority ") +
           keys.authorities + " (" + text + ")";
  if (code == CURLE_SSL_CONNECT_ERROR && speaks_no_tls(text))
    return std::string(
               "the server did not answer in TLS; if the server speaks plain HTTP, write http:// in ") +
           keys.url + " (" + text + ")";
  if (code != CURLE_PEER_FAILED_VERIFICATION) return text;
  long result = 0;
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &result);
  return certificate_problem(result, keys) + " (" + text + ")";
}

}  // namespace laneway::curl
