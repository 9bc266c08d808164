// Serves all clients of the admin server on one thread: accepts connections, receives requests and sends
// answers without waiting for any client. Complete requests are handed to workers, whose answers come back.
//
// No client can keep others out:
// - Connections are bounded. When there are too many, or descriptors run out, the oldest connection without a
//   complete request, and then the oldest that does not read its answer, is closed.
// - Answers that are not read are bounded in bytes; the oldest is cut off.
// - Waiting requests are bounded; further requests are answered with 503. Probes (GET /livez, /readyz) wait
//   in a queue of their own, bounded only by the connections.
//
// Threads: run() on one thread; next() and answered() on the workers'; stop() on any.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/http/connection.h"
#include "admin/http/descriptor_reserve.h"
#include "admin/http/listener.h"
#include "base/mutex.h"
#include "base/wake_event.h"

namespace laneway::admin {

struct ReceptionLimits {
  std::size_t connections = 128;
  std::size_t reserve = 8;                      ///< descriptors kept for some of the connections
  std::size_t waiting = 32;                     ///< requests that no worker has taken
  std::size_t unread_bytes = 64 * 1024 * 1024;  ///< of all answers together
  ConnectionLimits each;
};

class Reception {
 public:
  struct Request {
    std::uint64_t client = 0;
    std::string text;
  };

  /// Throws std::system_error if the system has no descriptor.
  Reception(Listener listener, const ReceptionLimits& limits);

  std::uint16_t port() const { return listener_.port; }
  bool is_loopback() const { return listener_.loopback; }

  /// Serves until stop().
  void run() EXCLUDES(mutex_);
  /// Waits for a request. Returns nullopt after stop().
  std::optional<Request> next(bool probes_only) EXCLUDES(mutex_);
  void answered(std::uint64_t client, std::string answer) EXCLUDES(mutex_);
  /// Ends run() and every next().
  void stop() EXCLUDES(mutex_);
  /// To be called after run() has returned: closes the connections and frees the port.
  void close();

 private:
  using Clients = std::map<std::uint64_t, Connection>;  // the oldest first

  bool wait_and_serve();
  Duration until_due(TimePoint now) const;
  void accept_clients(TimePoint now);
  Descriptor accept_one(TimePoint now);
  void accept_failed(int error, TimePoint now);
  void go_on(std::uint64_t id, Connection& client, TimePoint now) EXCLUDES(mutex_);
  bool hand_over(std::uint64_t id, Connection& client) EXCLUDES(mutex_);
  void take_answers(TimePoint now) EXCLUDES(mutex_);
  void bound_unread();
  bool make_way(TimePoint now);
  Clients::iterator end(Clients::iterator client);

  Listener listener_;
  const ReceptionLimits limits_;
  const WakeEvent wake_event_;
  DescriptorReserve reserve_;
  // Used by run() only:
  Clients clients_;
  std::uint64_t next_id_ = 0;
  TimePoint accept_from_;  // no connection is accepted before this time

  Mutex mutex_;
  Condition changed_;
  std::deque<Request> probes_ GUARDED_BY(mutex_);
  std::deque<Request> requests_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::uint64_t, std::string>> answers_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace laneway::admin
