// One kept-alive connection to one address, over libcurl.
//
// Used by one thread at a time. post() blocks until there is an answer, the time-out passes, or the stop
// token asks (seen within 50 ms); a request that did not end well closes the connection. HTTP/1.1 only; no
// redirects, cookies or signals; a proxy is taken from the environment (http_proxy, https_proxy, no_proxy, as
// curl documents them).
//
// libcurl by itself sends a request again, on a new connection, when a reused one is closed before any
// answer. The server may have worked on the first, so this class refuses the second sending and says `stale`:
// the record's next attempt then has a number of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "base/time.h"
#include "handler/http_answer.h"
#include "handler/http_request.h"

namespace laneway::handler {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password that a URL may hold
  std::string content_type;
  Duration timeout{};
};

/// "host:port" of an http or https URL. Error: configuration.
Result<std::string> server_of(const std::string& url);

class HttpClient {
 public:
  /// `endpoint` outlives the client. Throws std::bad_alloc.
  explicit HttpClient(const HttpEndpoint& endpoint);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpAnswer post(std::string_view body, const std::vector<RequestHeader>& headers, StopToken stop);

 private:
  struct Callbacks;

  void set_options();
  std::size_t count(std::size_t bytes);
  bool transfer(StopToken stop);
  void conclude(int code);

  const HttpEndpoint& endpoint_;
  void* multi_;  // CURLM*: owns the connection
  void* easy_;   // CURL*
  std::vector<char> error_text_;
  // Of the current request:
  HttpAnswer answer_;
  std::size_t received_ = 0;
  int sendings_ = 0;
  bool cut_ = false;  // we stopped reading, having enough
};

}  // namespace laneway::handler
