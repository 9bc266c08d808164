// One client's socket, which never blocks: it receives a request, has it answered, sends the answer and ends,
// each of them as far as the socket allows at the time and until a deadline. A slow or endless client
// therefore costs a descriptor and a bounded buffer for a bounded time, and no thread.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "admin/listener.h"
#include "base/time.h"

namespace laneway::admin {

struct ConnectionLimits {
  std::size_t request_bytes = 16 * 1024;
  Duration request_time = seconds(5);
  Duration answer_time = seconds(10);  ///< from when there is an answer
};

class Connection {
 public:
  enum class State : std::uint8_t {
    receiving,  ///< a request, of which a part is missing
    at_work,    ///< it is whole; waits for answer()
    answering,
    closing,  ///< what the client still sends is read away for a short time, so that it can read the answer
    ended,
  };

  Connection(Descriptor socket, const ConnectionLimits& limits, TimePoint now);

  State state() const { return state_; }
  int socket() const { return socket_.number(); }
  /// The last call; the socket is the caller's.
  Descriptor release() { return std::move(socket_); }
  /// What to poll for; 0 for nothing.
  short wanted() const;
  /// When tick() has to be called; only while wanted() is not 0.
  TimePoint deadline() const { return deadline_; }
  std::size_t unsent() const { return answer_.size() - sent_; }

  /// Receives or sends what can be.
  void go_on(TimePoint now);
  /// Ends what has taken too long.
  void tick(TimePoint now);

  /// While at_work, once: the request, whose head has at least one line. What is wrong with a request is
  /// answered by the connection itself.
  std::string take_request() { return std::move(received_); }
  /// Sends what can be sent at once; unless ended.
  void answer(std::string text, TimePoint now);
  /// The same for what the request has no part in: a text and its status, such as "503 Service Unavailable".
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
  std::size_t searched_ = 0;  // of received_, for the end of the head
  std::size_t whole_ = 0;     // bytes of the request; 0: not known yet
  std::string answer_;
  std::size_t sent_ = 0;
  std::size_t read_away_ = 0;
};

}  // namespace laneway::admin
