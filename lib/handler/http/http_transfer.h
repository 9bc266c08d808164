// One request to an endpoint and its answer, on a libcurl easy handle that is reused. The driver of the
// handle (handler/http/http_client.h) prepares the transfer, adds the handle to its multi handle, and
// concludes.
//
// Used by one thread at a time; nothing blocks. HTTP/2 if a TLS server offers it, otherwise HTTP/1.1. No
// redirects, cookies or signals. The proxy comes from the environment (http_proxy, https_proxy, no_proxy, as
// documented by curl). A request that failed closes its connection.
//
// If a request uses a kept-alive connection that the server has closed, and no byte of an answer came, the
// request is sent again immediately, once, on a new connection: after a restart of the server, the other open
// connections are closed as well. The server may have worked on the first request. RFC 9110 (9.2.2) allows
// the repetition for requests that are known to be idempotent: a record's request always has the same
// delivery id. libcurl repeats such requests by itself, but only five times in the life of a handle, and not
// if sending failed in the middle of a body: then the driver of the handle repeats them.
//
// "No byte" means "no complete status line", because libcurl reports complete lines only: a partial line
// changes no callback, counter or time of a transfer (7.88), and libcurl itself also repeats such a request.
// The kernel counts the bytes of a connection (TCP_INFO), but includes the bytes of TLS, which a close has as
// well, and the count costs a system call for each request. So a server that breaks off in the status line
// gets the request once more; the second break is on a new connection and counts as a failed call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "curl/easy_handle.h"
#include "handler/http/http_answer.h"
#include "handler/http/http_endpoint.h"
#include "handler/http/http_request.h"
#include "handler/http/http_sockets.h"

struct curl_slist;

namespace laneway::handler {

class HttpTransfer {
 public:
  /// `endpoint` must outlive the transfer, and so must `connecting`, which counts the transfers that are
  /// prepared and have not begun to send. `sockets` is notified of the connections that are opened and
  /// closed, even after the transfer's end. Throws std::bad_alloc.
  HttpTransfer(const HttpEndpoint& endpoint, std::uint32_t& connecting, HttpSockets& sockets);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  /// `url`: empty for the endpoint's. `body` must stay in place until the handle has left its multi handle.
  void prepare(const std::string& url, std::string_view body, const RequestHeaders& headers);
  /// Called with libcurl's CURLcode `code`: returns true if the request must be sent again, as described
  /// above.
  bool prepare_again(int code);
  /// The result of the request; `code` as above.
  HttpAnswer conclude(int code);
  /// The result of a request that exceeds its time-out.
  HttpAnswer time_out(Duration after);
  /// Ends a transfer that will not be concluded.
  void abandon();

  void* handle() const { return easy_.get(); }  // CURL*

 private:
  struct Callbacks;
  void set_options(const HttpEndpoint& endpoint);
  void set_headers(const RequestHeaders& headers);
  std::size_t count(std::size_t bytes);
  std::optional<std::string> shortage(int code) const;
  void enter_connecting();
  void leave_connecting();

  const std::string first_headers_;  // for every request; each line ends with a zero byte
  const std::size_t kept_of_body_;
  const bool reads_answer_;
  const bool public_only_;
  std::uint32_t& connecting_;
  HttpSockets& sockets_;
  bool multiplexes_ = false;  // the server multiplexed, in its previous answer
  // Of the current request:
  std::string header_lines_;
  std::vector<curl_slist> header_list_;  // of header_lines_
  HttpAnswer answer_;
  std::size_t received_ = 0;
  int sendings_ = 0;         // the number of times that sending began
  bool sent_ = false;        // the last sending has begun; otherwise its connection is being made
  int socket_error_ = 0;     // errno of a socket that could not be made
  bool counted_ = false;     // in connecting_
  bool not_public_ = false;  // an address was refused
  bool cut_ = false;         // reading stopped because the answer is long enough

  curl::EasyHandle easy_;  // last, because it uses the other members
};

}  // namespace laneway::handler
