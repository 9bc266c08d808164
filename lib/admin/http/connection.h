// One client's socket, which never blocks: it receives a request, passes it on, sends the answer and ends.
// Each step goes as far as the socket allows at the time and has a deadline. A slow or endless client
// therefore costs a descriptor and a bounded buffer for a bounded time, and no thread.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "admin/http/listener.h"
#include "base/time.h"

namespace laneway::admin {

struct ConnectionLimits {
  std::size_t request_bytes = 16 * 1024;
  Duration request_time = seconds(5);
  Duration answer_time = seconds(10);  ///< from the moment when the answer exists
};

class Connection {
 public:
  enum class State : std::uint8_t {
    receiving,  ///< part of the request is missing
    at_work,    ///< the request is complete and waits for answer()
    answering,
    closing,  ///< discards what the client still sends for a short time, so that it can read the answer
    ended,
  };

  Connection(Descriptor socket, const ConnectionLimits& limits, TimePoint now);

  State state() const { return state_; }
  int socket() const { return socket_.number(); }
  /// The last call; the caller owns the socket afterwards.
  Descriptor release() { return std::move(socket_); }
  /// The events to poll for; 0 if none.
  short wanted() const;
  /// When to call tick(); only while wanted() is not 0.
  TimePoint deadline() const { return deadline_; }
  std::size_t unsent() const { return answer_.size() - sent_; }

  /// Receives or sends as much as possible.
  void go_on(TimePoint now);
  /// Ends the connection if it has taken too long.
  void tick(TimePoint now);

  /// While at_work, once: returns the request, whose head has at least one line. The connection itself
  /// answers a malformed request.
  std::string take_request() { return std::move(received_); }
  /// Sends as much as possible at once; not after ended.
  void answer(std::string text, TimePoint now);
  /// The same for an answer that does not depend on the request: a text and its status, such as "503 Service
  /// Unavailable".
  void refuse(const std::string& status, const std::string& text, TimePoint now);

 private:
  void receive(TimePoint now);
  void look_at_request(TimePoint now);
  void send(TimePoint now);
  void read_away();

  Descriptor socket_;
  const ConnectionLimits limits_;
  State state_ = State::receiving;
  TimePoint deadline_;
  std::string received_;
  std::size_t searched_ = 0;  // bytes of received_ that were searched for the end of the head
  std::size_t whole_ = 0;     // bytes of the complete request; 0 if not known yet
  std::string answer_;
  std::size_t sent_ = 0;
  std::size_t read_away_ = 0;
};

}  // namespace laneway::admin
