// A thread that sends the records of the tasks it is handed: what handler/http/http_sender.h does, served by
// a thread.
//
// What is handed over and not answered is bounded by the lanes' slots (lanes.workers each), so the list
// between needs no bound of its own.
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
  HttpLoop(const config::HttpSettings& settings, std::string server, HttpLimits limits);
  /// Cuts off what is in the air; tasks end as far as they were answered.
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  /// Ends the thread; what is handed over from now on stays where it is. Once, before the destructor.
  void stop() EXCLUDES(mutex_);
  /// From any thread, also its own.
  void hand_over(Task task) EXCLUDES(mutex_);
  /// Tasks handed over that are neither ended nor just being answered. From any thread.
  std::uint32_t load() const noexcept { return sender_.load(); }
  /// Whether what is handed over need not wait for a connection. From any thread.
  bool has_room() const noexcept { return load() < connections_; }
  /// Whether the caller is its thread.
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
  std::thread::id id_;  // of thread_, also when it has ended
};

}  // namespace laneway::handler
