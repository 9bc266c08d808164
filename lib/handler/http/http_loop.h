// A thread that sends the records of the tasks that it is given, with an HttpSender
// (handler/http/http_sender.h).
//
// The number of tasks that are given and not answered is bounded by the lanes' slots (lanes.workers each), so
// the list of given tasks needs no bound of its own.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/http/http_sender.h"

namespace laneway::handler {

class HttpLoop {
 public:
  /// Throws std::bad_alloc, std::system_error.
  HttpLoop(const config::HttpSettings& settings, const HttpPlace& place, HttpLimits limits);
  /// Aborts requests in flight; tasks end with the records that were answered.
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  /// Ends the thread. Tasks that are given afterwards stay in the list. Call once, before the destructor.
  void stop() EXCLUDES(mutex_);
  /// From any thread, including the loop's own.
  void hand_over(Task task) EXCLUDES(mutex_);
  /// The number of given tasks that are neither ended nor just being answered. From any thread.
  std::uint32_t load() const noexcept { return sender_.load(); }
  /// Whether a further task need not wait for a connection. From any thread.
  bool has_room() const noexcept { return load() < connections_; }
  /// Whether the caller runs on the loop's thread.
  bool is_here() const noexcept { return id_ == std::this_thread::get_id(); }

 private:
  void run() EXCLUDES(mutex_);
  bool take_over() EXCLUDES(mutex_);

  const std::uint32_t connections_;
  HttpSender sender_;  // used by thread_

  Mutex mutex_;
  std::vector<Task> handed_over_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;

  std::vector<Task> taken_over_;  // used by thread_
  std::thread thread_;
  std::thread::id id_;  // the id of thread_, even after it has ended
};

}  // namespace laneway::handler
