#include "handler/http/http_reach.h"

#include <curl/curl.h>

#include <array>
#include <memory>
#include <new>

#include "curl/http_endpoint.h"

namespace laneway::handler {

Result<std::string> reach_server(const config::HttpSettings& settings, Duration timeout) {
  auto server = curl::server_of(settings.url);
  if (!server) return server.error();
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(), curl_easy_cleanup);
  if (!easy) throw std::bad_alloc();
  std::array<char, CURL_ERROR_SIZE> reason{};
  const auto timeout_ms = static_cast<long>(duration_cast<milliseconds>(timeout).count());
  curl_easy_setopt(easy.get(), CURLOPT_URL, settings.url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl::trust(easy.get(), settings.ca);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, timeout_ms);
  curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, reason.data());
  const CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_OK) return *server + " accepts connections";
  const std::string why = reason[0] != '\0' ? reason.data() : curl_easy_strerror(code);
  const bool refused = code == CURLE_PEER_FAILED_VERIFICATION;  // then the message says what to do
  return Error{ErrorKind::unavailable,
               "handler.http.url: cannot connect to " + *server + ": " +
                   curl::connection_problem(easy.get(), code, why),
               refused ? "" : "start the web service, or correct the URL"};
}

}  // namespace laneway::handler
