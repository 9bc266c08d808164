// Requests to one endpoint, many at once, on libcurl multi handles over one epoll.
//
// serve() goes on with one connection at a time, so that its caller can put the next request in the place of
// one that was answered before others are looked at: when a thousand answers come at once, each place is
// empty for as long as its own turn takes, and not for as long as a round of them.
//
// A multi handle has up to 32 connections: for each request libcurl walks through a handle's connections, so
// with thousands in one handle the walk would cost more than all the rest. Over TLS there is one handle,
// because one connection of HTTP/2 can carry all requests.
//
// Connections are kept alive and shared. At most `connections` requests are in the air, so there are no more
// connections; at most `connecting` of them are without a connection yet, so that a server that comes back is
// not met by a thousand handshakes at once, nor a name server by a thousand questions (libcurl asks it on a
// thread for each). Where the process lacks descriptors for a further connection, no more requests are in the
// air for a second than have one: the others wait for these, and do not come to nothing one after the other.
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

/// A request in the air, and who is told.
class HttpExchange {
 public:
  HttpExchange() = default;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  /// Called by serve(), once. The exchange may be destroyed here.
  virtual void answered(const HttpAnswer& answer) = 0;

 protected:
  virtual ~HttpExchange() = default;

 private:
  friend class HttpClient;
  std::unique_ptr<HttpTransfer> transfer_;  // while in the air
  std::uint32_t multi_ = 0;                 // whose multi handle it is on
};

/// Each at least 1.
struct HttpLimits {
  std::uint32_t connections;
  std::uint32_t connecting;
};

class HttpClient {
 public:
  /// `endpoint` outlives the client. Throws std::bad_alloc, std::system_error.
  HttpClient(const HttpEndpoint& endpoint, HttpLimits limits);
  /// After all its exchanges. An exchange that is destroyed in the air cuts its request off.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Whether a request may begin.
  bool has_room() const { return in_air_ < most_in_air_ && connecting_ < limits_.connecting; }
  /// `body` and the exchange stay where they are until it is answered or cancelled. Throws std::bad_alloc,
  /// std::runtime_error.
  void begin(HttpExchange& exchange, std::string_view body, const RequestHeaders& headers);
  /// Cuts off the request, and its connection unless other requests share it. The exchange is not told.
  void cancel(HttpExchange& exchange);
  /// The same, because the endpoint's time is over: what became of it.
  HttpAnswer time_out(HttpExchange& exchange);
  /// Sends what has begun. Then goes on with the next connection that can go on; waits for one, but no longer
  /// than `at_most`.
  void serve(Duration at_most);
  /// Ends the current or next wait early. From any thread.
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
  std::vector<std::unique_ptr<Multi>> multis_;  // made as they are needed
  std::vector<Multi*> begun_;                   // have requests that are not sent; perhaps more than once
  std::vector<Multi*> touched_;                 // may have requests that ended; likewise
  std::uint32_t connecting_ = 0;
  std::uint32_t in_air_ = 0;
  std::uint32_t most_in_air_;  // the connections, or fewer while this process lacks descriptors
  TimePoint made_do_at_{};
  std::vector<std::unique_ptr<HttpTransfer>> idle_;
};

}  // namespace laneway::handler
