// One request to an endpoint and its answer, on a libcurl easy handle that is used again and again. Whoever
// drives the handle (handler/http/http_client.h) prepares, adds it to its multi handle, and concludes.
//
// Used by one thread at a time; nothing blocks. HTTP/2 where a TLS server offers it, else HTTP/1.1; no
// redirects, cookies or signals; a proxy is taken from the environment (http_proxy, https_proxy, no_proxy, as
// curl documents them). A request that did not end well closes its connection.
//
// A request that meets a kept-alive connection which the server has closed, before any byte of an answer, is
// sent again at once, once, and on a new connection: where a server was restarted, other open connections are
// closed as well. The server may have worked on the first sending. RFC 9110 (9.2.2) allows this for requests
// that are known to be idempotent: a request has the same delivery id whenever it is sent. libcurl sends such
// requests again by itself, but only five times in the life of a handle, and not where sending failed in the
// middle of a body: then whoever drives the handle does.
//
// "Before any byte" is "before the end of the status line", because libcurl reports whole lines only: to no
// callback, counter or time of a transfer (7.88) a partial line makes a difference, and libcurl sends such a
// request again by itself as well. The kernel counts the bytes of a connection (TCP_INFO), but with the bytes
// of TLS, which also a close has, and for a system call a request. So a server that breaks off in the status
// line gets the request once more; the second break is on a new connection and is a failed call.
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
  /// `endpoint` outlives the transfer, and so does `connecting`, which counts the transfers that are prepared
  /// and have not begun to send. `sockets` hears of the connections that are opened and closed, also after
  /// the transfer's end. Throws std::bad_alloc.
  HttpTransfer(const HttpEndpoint& endpoint, std::uint32_t& connecting, HttpSockets& sockets);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  /// `body` stays where it is until the handle is out of its multi handle again.
  void prepare(std::string_view body, const RequestHeaders& headers);
  /// After libcurl's CURLcode `code`: true when the request is to be sent again, as above.
  bool prepare_again(int code);
  /// What became of it; `code` as above.
  HttpAnswer conclude(int code);
  /// What became of it, where its time is over.
  HttpAnswer time_out(Duration after);
  /// It will not be concluded.
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

  const std::string first_headers_;  // of every request, each line ended by a zero byte
  const std::size_t kept_of_body_;
  std::uint32_t& connecting_;
  HttpSockets& sockets_;
  bool multiplexes_ = false;  // the server did, with the answer before
  // Of the current request:
  std::string header_lines_;
  std::vector<curl_slist> header_list_;  // of the lines
  HttpAnswer answer_;
  std::size_t received_ = 0;
  int sendings_ = 0;      // that have begun
  bool sent_ = false;     // the last one has; else a connection for it is being made
  int socket_error_ = 0;  // errno of a socket that could not be made
  bool counted_ = false;  // in connecting_
  bool cut_ = false;      // we stopped reading, having enough

  curl::EasyHandle easy_;  // last: it uses the others
};

}  // namespace laneway::handler
