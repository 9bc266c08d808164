#include "handler/http/http_reach.h"

#include <curl/curl.h>

#include "config/handlers/subscribers.h"
#include "curl/easy_handle.h"
#include "curl/url.h"
#include "handler/http/http_endpoint.h"

namespace laneway::handler {

Result<std::string> reach_server(const config::HttpSettings& settings, Duration timeout) {
  if (!settings.subscribers.empty()) {
    const auto subscribers = config::read_subscribers(settings.subscribers);
    if (!subscribers) return subscribers.error();
    return settings.subscribers + " lists " + std::to_string(subscribers->size()) +
           " subscribers, which are not contacted";
  }
  const auto server = curl::server_of(settings.url, http_connection_keys.url);
  if (!server) return server.error();
  curl::EasyHandle easy(settings.url);
  easy.trust(settings.ca);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, curl::timeout_ms(timeout));
  const CURLcode code = curl_easy_perform(easy.get());
  if (code == CURLE_OK) return *server + " accepts connections";
  const bool refused = code == CURLE_PEER_FAILED_VERIFICATION;  // the message then says what to do
  return Error{
      ErrorKind::unavailable,
      "handler.http.url: cannot connect to " + *server + ": " + easy.problem(code, http_connection_keys),
      refused ? "" : "start the web service, or correct the URL"};
}

}  // namespace laneway::handler
