#include "pool/workers.h"

#include <algorithm>
#include <system_error>

namespace laneway::pool {

Worker* Workers::wake_one(std::uint32_t most) {
  if (parked_.empty()) {
    start(most);
    return nullptr;
  }
  Worker* worker = parked_.back();
  parked_.pop_back();
  worker->woken = true;
  ++awake_;
  ++searching_;
  return worker;
}

void Workers::wake_all() {
  while (!parked_.empty()) wake_one(0)->wake.notify_one();
}

bool Workers::start(std::uint32_t most) {
  if (threads_ >= most || start_failed_) return false;
  if (unstarted_.empty()) unstarted_.push_back(&workers_.emplace_back());
  Worker& worker = *unstarted_.back();
  // An earlier thread of this worker has ended except for its return: it has already released the lock.
  if (worker.thread.joinable()) worker.thread.join();
  try {
    worker.thread = std::thread([this, &worker] { run_(worker); });
  } catch (const std::system_error&) {
    start_failed_ = true;
    ++start_failures_;
    return false;
  }
  unstarted_.pop_back();
  worker.woken = true;
  ++threads_;
  ++awake_;
  ++searching_;
  return true;
}

void Workers::arrive(Worker& self) {
  if (!self.woken) return;
  self.woken = false;
  --searching_;
}

void Workers::park(Worker& self) {
  parked_.push_back(&self);
  --awake_;
}

bool Workers::sleep(Worker& self, Mutex& mutex) {
  const TimePoint until = SteadyClock::now() + idle_;
  while (!self.woken)
    if (!self.wake.wait_until(mutex, until) && !self.woken) return false;
  return true;
}

void Workers::leave(Worker& self, bool parked) {
  if (parked)
    parked_.erase(std::find(parked_.begin(), parked_.end(), &self));
  else
    --awake_;
  --threads_;
  unstarted_.push_back(&self);
}

void Workers::join() {
  for (Worker& worker : workers_)
    if (worker.thread.joinable()) worker.thread.join();
}

}  // namespace laneway::pool
