#include "curl/url.h"

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

}  // namespace

bool is_tls(const std::string& url) { return curl_strnequal(url.c_str(), "https:", 6) != 0; }

Result<std::string> server_of(const std::string& url, const std::string& key) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorKind::configuration, key + ": " + why,
                 "give a full address, such as http://127.0.0.1:8080/orders"};
  };
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed) throw std::bad_alloc();
  // Messages do not contain the URL, which may include a password.
  if (const auto code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0); code != CURLUE_OK)
    return refused(curl_url_strerror(code));
  const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return refused("the scheme is '" + scheme + "'; http or https are possible");
  return part_of(parsed.get(), CURLUPART_HOST) + ":" + part_of(parsed.get(), CURLUPART_PORT);
}

}  // namespace laneway::curl
