// What sockets wait for, on one epoll, and what happens to them, one by one.
//
// A client with connections that are kept alive stops and starts to watch a connection at each request. The
// kernel is not told of the stop, because it most often has nothing to report until the next start, nor of
// the start of a connection (opened()), so neither costs a system call. Other sockets may be closed, and
// their numbers be others' by then, without our hearing of it, so the kernel is told of their start.
//
// A thread that has much to do gives the processor away before it asks for more: with more busy threads than
// cores the others of this process (or of its terminal session or control group: further than that a yield
// does not reach) would wait for the scheduler's slice of about 3 ms, again and again. Measured with a
// thousand requests in the air at a web service on the same two cores, which answers after 50 ms: 98 % of the
// ideal rate, 96 % without.
//
// Used by one thread at a time, except wake(). Only next() blocks.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/descriptor.h"
#include "base/time.h"
#include "base/wake_event.h"

namespace laneway::handler {

class HttpSockets {
 public:
  struct Event {
    std::uint32_t owner;
    int socket;
    std::uint32_t what;  ///< a set of EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP
  };

  /// Throws std::system_error.
  HttpSockets();

  /// A socket that will be told to be closed().
  void opened(int socket);
  /// Before its number is given back.
  void closed(int socket);
  /// `wanted`: a set of EPOLLIN and EPOLLOUT; 0: no longer of interest. If the kernel has no room for it,
  /// nothing will be heard of it, and it is for time-outs to end what waits.
  void watch(int socket, std::uint32_t owner, std::uint32_t wanted);

  /// The next that happened; waits when there is none yet. Nothing: it took too long, or wake().
  std::optional<Event> next(Duration at_most);
  /// Whether next() need not ask the kernel.
  bool has_more() const { return next_ < count_; }
  /// Ends the current or the next wait early. From any thread.
  void wake() noexcept { wake_event_.wake(); }

 private:
  struct Socket {
    bool is_connection = false;
    std::uint32_t owner = 0;
    std::uint32_t wanted = 0;
    std::uint32_t registered = 0;  // what the kernel was told; 0: nothing
  };

  Socket& at(int socket);
  void forget(int socket);
  std::optional<Event> looked_at(const epoll_event& event);

  const Descriptor epoll_;
  const WakeEvent wake_event_;
  std::vector<Socket> sockets_;  // by number
  std::array<epoll_event, 16> events_{};
  std::size_t next_ = 0;   // in events_
  std::size_t count_ = 0;  // of events_
};

}  // namespace laneway::handler
