// One client's socket as httplib's Stream, with limits: a deadline for the request, one for the answer, and a
// number of bytes that the request may have. A slow or endless client therefore costs a worker a bounded
// time.
//
// One thread at a time. Reading and writing block until the deadline or until `stop_event` becomes readable.
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "admin/listener.h"
#include "base/time.h"

namespace laneway::admin {

struct ConnectionLimits {
  std::size_t request_bytes = 16 * 1024;
  Duration request_time = seconds(5);
  Duration crowded_time = milliseconds(500);  ///< of request_time, while other clients wait for a worker
  Duration answer_time = seconds(10);         ///< from the end of the request
};

class Connection final : public httplib::Stream {
 public:
  /// What became of a request's head, its lines up to the empty one.
  enum class Head : std::uint8_t { whole, ended, late, too_large };

  /// `crowded`: other clients wait; outlives the connection.
  Connection(Descriptor socket, int stop_event, const ConnectionLimits& limits,
             const std::atomic<bool>& crowded);

  /// The first call. httplib is given a head that is whole only, and without its Range fields: it would read
  /// them with a regular expression, whose recursion takes as much of the stack as a client likes.
  Head read_head();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* into, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  int socket() const override { return socket_.number(); }

  /// Ends the connection so that the client can read the answer: what it still sends is read first, for a
  /// short time. The last call; the socket is the caller's.
  Descriptor finish();

 private:
  bool wait_for(short event) const;
  bool in_the_way() const;
  ssize_t receive();
  void read_away();

  Descriptor socket_;
  const int stop_event_;
  const ConnectionLimits limits_;
  const std::atomic<bool>& crowded_;
  const TimePoint begun_;
  Deadline deadline_;
  bool answering_ = false;
  std::size_t requested_ = 0;
  std::string received_;
  std::size_t consumed_ = 0;  // of received_
};

}  // namespace laneway::admin
