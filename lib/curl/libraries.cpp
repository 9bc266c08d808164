#include "curl/libraries.h"

#include <curl/curl.h>

namespace laneway::curl {

std::vector<Library> libraries() {
  // libcurl is a shared library: the version at run time counts, with its TLS library.
  const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
  const std::string tls = version->ssl_version == nullptr ? "no TLS" : version->ssl_version;
  return {{"libcurl", std::string(version->version) + " (" + tls + ")"}};
}

}  // namespace laneway::curl
