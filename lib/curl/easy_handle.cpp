#include "curl/easy_handle.h"

#include <curl/curl.h>

#include <algorithm>
#include <new>

#include "tls/oldest_version.h"

namespace laneway::curl {

Status initialize() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    return Error{ErrorKind::internal, std::string("libcurl: ") + curl_easy_strerror(ready), ""};
  return tls::refuse_old_versions();
}

long timeout_ms(Duration timeout) {
  return std::max<long>(1, static_cast<long>(duration_cast<milliseconds>(timeout).count()));
}

EasyHandle::EasyHandle(const std::string& url) : easy_(curl_easy_init()), error_(CURL_ERROR_SIZE, '\0') {
  if (easy_ == nullptr) throw std::bad_alloc();
  curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, "laneway");
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
}

EasyHandle::~EasyHandle() { curl_easy_cleanup(easy_); }

void EasyHandle::trust(const std::string& authorities) {
  if (authorities.empty()) return;
  curl_blob blob{const_cast<char*>(authorities.data()), authorities.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &blob);
  // The blob replaces the library's file of authorities, but not the library's folder of authorities.
  curl_easy_setopt(easy_, CURLOPT_CAPATH, static_cast<char*>(nullptr));
}

std::string EasyHandle::problem(int code, ConnectionKeys keys) const {
  const char* said = error_[0] != '\0' ? error_.data() : curl_easy_strerror(static_cast<CURLcode>(code));
  return connection_problem(easy_, code, said, keys);
}

}  // namespace laneway::curl
