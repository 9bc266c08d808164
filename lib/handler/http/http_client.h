// Requests to one endpoint, many at once, on libcurl multi handles over one epoll.
//
// serve() handles one connection at a time, so that its caller can replace an answered request by the next
// one before serve() looks at other connections. When a thousand answers arrive at once, each place is then
// empty only for its own turn, and not for a whole round.
//
// A multi handle has up to 32 connections: for each request libcurl walks through all connections of a
// handle, so with thousands in one handle the walk would cost more than everything else. Over TLS there is
// one handle, because one connection of HTTP/2 can carry all requests.
//
// Connections are kept alive and shared. At most `connections` requests are in flight, so there are no more
// connections. At most `connecting` of these requests have no connection yet, so that a server that comes
// back does not get a thousand handshakes at once, nor a name server a thousand questions (libcurl uses a
// thread for each). If the process has no descriptor for a further connection, for one second only as many
// requests are in flight as there are connections: the other requests wait, and do not fail one after the
// other.
//
// Used by one thread at a time, except wake(). Only serve() blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "handler/http/http_sockets.h"
#include "handler/http/http_transfer.h"

namespace laneway::handler {

/// A request in flight, and the receiver of its answer.
class HttpExchange {
 public:
  HttpExchange() = default;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  /// Called by serve(), once. The callee may destroy the exchange.
  virtual void answered(const HttpAnswer& answer) = 0;

 protected:
  virtual ~HttpExchange() = default;

 private:
  friend class HttpClient;
  std::unique_ptr<HttpTransfer> transfer_;  // while the request is in flight
  std::uint32_t multi_ = 0;                 // the number of the multi handle
};

/// Each limit is at least 1.
struct HttpLimits {
  std::uint32_t connections;
  std::uint32_t connecting;
};

class HttpClient {
 public:
  /// `endpoint` must outlive the client. Throws std::bad_alloc, std::system_error.
  HttpClient(const HttpEndpoint& endpoint, HttpLimits limits);
  /// Must be destroyed after all its exchanges. An exchange that is destroyed in flight aborts its request.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Whether a request may begin.
  bool has_room() const { return in_air_ < most_in_air_ && connecting_ < limits_.connecting; }
  /// `url`: empty for the endpoint's. `body` and the exchange must stay in place until the request is
  /// answered or cancelled. Throws std::bad_alloc, std::runtime_error.
  void begin(HttpExchange& exchange, const std::string& url, std::string_view body,
             const RequestHeaders& headers);
  /// Aborts the request, and closes its connection unless other requests share it. The exchange is not
  /// notified.
  void cancel(HttpExchange& exchange);
  /// Aborts a request that exceeds the endpoint's time-out, and returns its result.
  HttpAnswer time_out(HttpExchange& exchange);
  /// Sends the requests that have begun. Then handles the next connection that is ready; waits for one, but
  /// not longer than `at_most`.
  void serve(Duration at_most);
  /// Ends the current or the next wait early. From any thread.
  void wake() noexcept { sockets_.wake(); }

 private:
  class Multi;

  Multi& multi_with_room();
  void put_up(HttpExchange& exchange, std::unique_ptr<HttpTransfer> transfer);
  std::unique_ptr<HttpTransfer> take_down(HttpExchange& exchange);
  void send_begun();
  Duration until_timer(Duration at_most) const;
  void look_at_timers();
  void conclude_ended();
  void conclude_ended(Multi& multi);
  void make_do();

  const HttpEndpoint& endpoint_;
  const HttpLimits limits_;
  HttpSockets sockets_;
  std::vector<std::unique_ptr<Multi>> multis_;  // made when needed
  std::vector<Multi*> begun_;                   // have requests that are not sent; may contain duplicates
  std::vector<Multi*> touched_;                 // may have requests that ended; may contain duplicates
  std::uint32_t connecting_ = 0;
  std::uint32_t in_air_ = 0;
  std::uint32_t most_in_air_;  // the number of connections, or fewer while this process lacks descriptors
  TimePoint made_do_at_{};
  std::vector<std::unique_ptr<HttpTransfer>> idle_;
};

}  // namespace laneway::handler
