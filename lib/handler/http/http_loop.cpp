#include "handler/http/http_loop.h"

#include <utility>

namespace laneway::handler {

HttpLoop::HttpLoop(const config::HttpSettings& settings, const HttpPlace& place, HttpLimits limits)
    : connections_(limits.connections), sender_(settings, place, limits) {
  // The thread reads its own id (is_here()), so the mutex delays its work until the id is set.
  MutexLock lock(mutex_);
  thread_ = std::thread([this] { run(); });
  id_ = thread_.get_id();
}

HttpLoop::~HttpLoop() {
  if (thread_.joinable()) stop();
}

void HttpLoop::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  sender_.wake();
  thread_.join();
}

void HttpLoop::hand_over(Task task) {
  sender_.announce();
  {
    MutexLock lock(mutex_);
    handed_over_.push_back(std::move(task));
    // Another caller wakes the thread, or this is the thread, which looks at the list before it waits.
    if (handed_over_.size() > 1 || is_here()) return;
  }
  sender_.wake();
}

void HttpLoop::run() {
  while (take_over()) sender_.serve();
}

bool HttpLoop::take_over() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    taken_over_.swap(handed_over_);
  }
  for (Task& task : taken_over_) sender_.add(std::move(task));
  taken_over_.clear();
  return true;
}

}  // namespace laneway::handler
