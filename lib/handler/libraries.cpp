#include "handler/libraries.h"

#include <curl/curl.h>

namespace laneway::handler {

std::vector<Library> libraries() {
  // libcurl is shared: what runs counts, with its TLS library.
  const curl_version_info_data* curl = curl_version_info(CURLVERSION_NOW);
  const std::string tls = curl->ssl_version == nullptr ? "no TLS" : curl->ssl_version;
  return {{"libcurl", std::string(curl->version) + " (" + tls + ")"}};
}

}  // namespace laneway::handler
