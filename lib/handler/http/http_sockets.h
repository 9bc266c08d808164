// Watches sockets on one epoll, and returns their events one by one.
//
// A client with connections that are kept alive stops and starts to watch a connection at each request. The
// kernel is not notified of the stop, because it usually has nothing to report until the next start, nor of
// the start for a connection (opened()). So neither costs a system call. Other sockets may be closed without
// notice, and their numbers may be reused, so the kernel is notified when they are watched.
//
// A busy thread yields the processor before it asks for more events. With more busy threads than cores, the
// other threads of this process (or of its terminal session or control group: a yield does not reach further)
// would otherwise wait for the scheduler's slice of about 3 ms again and again. Measured with a thousand
// requests in flight to a web service on the same two cores, which answers after 50 ms: 98 % of the ideal
// rate, 96 % without the yield.
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

  /// Registers a connection, which will be passed to closed() later.
  void opened(int socket);
  /// Must be called before the socket's number is released.
  void closed(int socket);
  /// `wanted`: a set of EPOLLIN and EPOLLOUT; 0 stops watching. If the kernel has no room for the socket, no
  /// event will come, and time-outs must end the waiting request.
  void watch(int socket, std::uint32_t owner, std::uint32_t wanted);

  /// The next event; waits if there is none yet. nullopt after `at_most`, or after wake().
  std::optional<Event> next(Duration at_most);
  /// Whether next() has events without asking the kernel.
  bool has_more() const { return next_ < count_; }
  /// Ends the current or the next wait early. From any thread.
  void wake() noexcept { wake_event_.wake(); }

 private:
  struct Socket {
    bool is_connection = false;
    std::uint32_t owner = 0;
    std::uint32_t wanted = 0;
    std::uint32_t registered = 0;  // the events registered with the kernel; 0 if none
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
