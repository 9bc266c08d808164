#include "curl/http_endpoint.h"

#include <curl/curl.h>

#include <memory>
#include <new>

namespace laneway::curl {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

/// `result`: OpenSSL's of the verification (openssl/x509_vfy.h).
std::string certificate_problem(long result, ConnectionKeys keys) {
  switch (result) {
    case 0:
    case 1:  // the chain is right: libcurl compares the name itself
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
                 "its certificate is of no authority that is trusted here; put the certificate of its "
                 "authority ") +
             keys.authorities;
    default:
      return "its certificate is refused";
  }
}

}  // namespace

bool HttpEndpoint::is_tls() const { return curl_strnequal(url.c_str(), "https:", 6) != 0; }

void trust(void* easy, const std::string& ca) {
  if (ca.empty()) return;
  curl_blob blob{const_cast<char*>(ca.data()), ca.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  // The blob replaces the library's file of authorities, but not its folder of them.
  curl_easy_setopt(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
}

std::string connection_problem(void* easy, int code, const std::string& text, ConnectionKeys keys) {
  if (code == CURLE_SSL_CACERT_BADFILE)
    return std::string(
               "the file of certificate authorities cannot be used; install the package ca-certificates, or "
               "put "
               "the certificate of the server's authority ") +
           keys.authorities + " (" + text + ")";
  if (code != CURLE_PEER_FAILED_VERIFICATION) return text;
  long result = 0;
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &result);
  return certificate_problem(result, keys) + " (" + text + ")";
}

Result<std::string> server_of(const std::string& url) {
  const auto refused = [](const std::string& why) {
    return Error{ErrorKind::configuration, "handler.http.url: " + why,
                 "give a full address, such as http://127.0.0.1:8080/orders"};
  };
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed) throw std::bad_alloc();
  // The URL itself stays out of messages: it may hold a password.
  if (const auto code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0); code != CURLUE_OK)
    return refused(curl_url_strerror(code));
  const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return refused("the scheme is '" + scheme + "'; http or https are possible");
  return part_of(parsed.get(), CURLUPART_HOST) + ":" + part_of(parsed.get(), CURLUPART_PORT);
}

}  // namespace laneway::curl
