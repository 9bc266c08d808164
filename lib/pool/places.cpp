// How many claims there may be at a time: as many as workers, and one more for each that is stuck.
#include <algorithm>

#include "pool/implementation.h"

namespace laneway::pool {

void Pool::Implementation::resize(std::uint32_t workers, std::uint32_t queue) {
  Next next;
  {
    MutexLock lock(mutex_);
    limits_.workers = workers;
    limits_.queue = queue;
    provide_places();
    next = next_to_work(SteadyClock::now());
  }
  set_to_work(next);
}

std::vector<Range> Pool::Implementation::expire(TimePoint now) {
  std::vector<Range> stuck;
  Next next;
  {
    MutexLock lock(mutex_);
    for (WorkerSlot& slot : slots_) {
      if (!slot.at_work()) continue;
      if (now - slot.started > ServiceTime::longest_claim) slot.want_back(slot.first_ticket);
      if (slot.expires(now, job_deadline_)) {
        slot.stop.stop_up_to(slot.seen_ticket);
        ++expired_;
      }
      if (!slot.gets_stuck(now, job_deadline_, limits_.stuck_after)) continue;
      stuck.push_back(slot.job());
      replace(slot);
    }
    if (stuck.empty()) return stuck;
    next = next_to_work(now);
  }
  set_to_work(next);
  return stuck;
}

void Pool::Implementation::replace(WorkerSlot& slot) {
  ++stuck_;
  if (replaced_ >= std::min<std::uint32_t>(limits_.workers, 64)) return;
  slot.replaced = true;
  ++replaced_;
  provide_places();
}

void Pool::Implementation::give_back(WorkerSlot& slot) {
  slot.in_use = false;
  --in_use_;
  stuck_ -= slot.stuck;
  replaced_ -= slot.replaced;
  (free_.size() + in_use_ < most() ? free_ : spare_).push_back(&slot);
  slot.stuck = false;
  slot.replaced = false;
}

/// As many free ones as may be used.
void Pool::Implementation::provide_places() {
  while (free_.size() + in_use_ > most() && !free_.empty()) {
    spare_.push_back(free_.back());
    free_.pop_back();
  }
  while (free_.size() + in_use_ < most()) {
    if (spare_.empty()) spare_.push_back(&slots_.emplace_back());
    free_.push_back(spare_.back());
    spare_.pop_back();
  }
}

}  // namespace laneway::pool
