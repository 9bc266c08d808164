#include "handler/reach.h"

#include <curl/curl.h>

#include <array>
#include <memory>
#include <new>

#include "curl/http_endpoint.h"
#include "handler/exec/exec_reach.h"
#include "handler/plugin/plugin_handler.h"

namespace laneway::handler {

namespace {

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

Result<std::string> reach_plugin(const config::PluginSettings& settings) {
  const auto name = try_plugin(settings);
  if (!name) return name.error();
  return "the plugin " + *name + " takes its configuration";
}

}  // namespace

Result<std::optional<std::string>> reach(const config::HandlerSettings& settings, Duration timeout) {
  const auto optional = [](Result<std::string> reached) -> Result<std::optional<std::string>> {
    if (!reached) return reached.error();
    return std::optional(std::move(reached).value());
  };
  if (const auto* http = std::get_if<config::HttpSettings>(&settings))
    return optional(reach_server(*http, timeout));
  if (const auto* exec = std::get_if<config::ExecSettings>(&settings))
    return optional(reach_program(*exec, timeout));
  if (const auto* plugin = std::get_if<config::PluginSettings>(&settings))
    return optional(reach_plugin(*plugin));
  return std::optional<std::string>();
}

}  // namespace laneway::handler
