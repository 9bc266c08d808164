#include "worker_pool/threads.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace laneway::worker_pool {

namespace {

thread_local std::thread left_before;  // of the same owner, by a thread that leaves

}  // namespace

Thread* Threads::start(std::uint64_t as) {
  try {
    if (unstarted_.empty()) {
      unstarted_.reserve(threads_.size() + 1);  // nothing but start() may fail for want of memory
      parked_.reserve(threads_.size() + 1);
      unstarted_.push_back(&threads_.emplace_back());
      unstarted_.back()->number = static_cast<std::uint32_t>(threads_.size() - 1);
    }
    left_.reserve(left_.size() + threads_.size());
    Thread& thread = *unstarted_.back();
    thread.thread = std::thread([this, &thread] {
      run_(thread);
      if (left_before.joinable()) left_before.join();
    });
    unstarted_.pop_back();
    thread.woken = as == ThreadCounts::searching;
    if (as == ThreadCounts::parked) parked_.push_back(&thread);
    state_.word += ThreadCounts::thread + as;
    state_.start_failed = false;
    return &thread;
  } catch (const std::exception&) {  // of the system, or for want of memory
    ++state_.start_failures;
    state_.start_failed = true;
    return nullptr;
  }
}

Thread* Threads::wake_last() {
  if (parked_.empty()) return nullptr;
  Thread* thread = parked_.back();
  parked_.pop_back();
  thread->woken = true;
  state_.word += ThreadCounts::searching - ThreadCounts::parked;
  return thread;
}

void Threads::park(Thread& self, std::uint64_t was) {
  self.woken = false;
  parked_.push_back(&self);
  state_.word += ThreadCounts::parked - was;
}

void Threads::keep_asleep(Thread& thread) {
  const auto at = std::find(parked_.begin(), parked_.end(), &thread);
  std::rotate(parked_.begin(), at, at + 1);
}

void Threads::unpark(Thread& thread, std::uint64_t as) {
  std::erase(parked_, &thread);
  state_.word += as - ThreadCounts::parked;
}

void Threads::leave(Thread& self, bool ending) {
  unstarted_.push_back(&self);
  if (!ending && !left_.empty()) {
    left_before = std::move(left_.back());
    left_.pop_back();
  }
  left_.push_back(std::move(self.thread));
}

}  // namespace laneway::worker_pool
