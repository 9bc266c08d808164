#include "pool/worker_slots.h"

#include <algorithm>
#include <utility>

namespace laneway::pool {

WorkerSlots::WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after)
    : job_deadline_(job_deadline), stuck_after_(stuck_after), workers_(workers) {
  provide();
}

void WorkerSlots::resize(std::uint32_t workers) {
  workers_ = workers;
  provide();
}

Claim WorkerSlots::take(const Range& range, std::uint32_t weight, bool permit, TimePoint now,
                        Lender* lender) {
  WorkerSlot& slot = lender != nullptr ? spare() : *free_.back();
  if (lender != nullptr)
    ++borrowed_;
  else
    free_.pop_back();
  ++in_use_;
  slot.weight = weight;
  slot.permit = permit;
  slot.lender = lender;
  return slot.take(range, now);
}

void WorkerSlots::give_back(WorkerSlot& slot) {
  slot.in_use = false;
  --in_use_;
  stuck_ -= slot.stuck;
  if (slot.lender != nullptr) {
    --borrowed_;
    stuck_borrowed_ -= slot.stuck;
  }
  (free_.size() + in_use_ < capacity() ? free_ : spare_).push_back(&slot);
  slot.stuck = false;
  slot.permit = false;
  slot.lender = nullptr;
}

WorkerSlots::Stuck WorkerSlots::expire(TimePoint now) {
  Stuck found;
  for (WorkerSlot& slot : slots_) {
    const auto ticket = slot.running();  // once: the worker may answer meanwhile
    if (!ticket) continue;
    if (now - slot.started > longest_claim) slot.want_back(slot.first_ticket);
    if (slot.expires(*ticket, now, job_deadline_)) {
      slot.stop.stop_up_to(slot.seen_ticket);
      ++expired_;
    }
    if (!slot.gets_stuck(now, job_deadline_, stuck_after_)) continue;
    found.jobs.push_back(slot.seen_job());
    found.permits += std::exchange(slot.permit, false);
    ++stuck_;
    if (slot.lender == nullptr) continue;
    ++stuck_borrowed_;
    found.lenders.push_back(slot.lender);
  }
  provide();
  return found;
}

void WorkerSlots::lend() {
  ++lent_;
  provide();
}

void WorkerSlots::end_loan(bool stuck) {
  --lent_;
  stuck_lent_ -= stuck;
  provide();
}

void WorkerSlots::replace_lent() {
  ++stuck_lent_;
  provide();
}

void WorkerSlots::want_all_back() {
  for (WorkerSlot& slot : slots_)
    if (slot.running()) slot.want_back(slot.first_ticket);
}

void WorkerSlots::stop_all() {
  all_stopped_ = true;
  for (WorkerSlot& slot : slots_) slot.stop.stop_up_to(StopState::all);
}

std::vector<Range> WorkerSlots::in_flight() const {
  std::vector<Range> ranges;
  for (const WorkerSlot& slot : slots_)
    if (const auto range = slot.at_work(); range.count() > 0) ranges.push_back(range);
  return ranges;
}

std::vector<Overdue> WorkerSlots::overdue() {
  std::vector<Overdue> claims;
  for (WorkerSlot& slot : slots_) {
    if (!slot.in_use || slot.range.count() < 2 || !slot.wanted_back(slot.first_ticket)) continue;
    if (const auto range = slot.at_work(); range.count() > 0)
      claims.push_back({{slot.range, &slot, slot.first_ticket}, range.end});
  }
  return claims;
}

/// Provides as many free slots as are allowed.
void WorkerSlots::provide() {
  while (free_.size() + in_use_ > capacity() && !free_.empty()) {
    spare_.push_back(free_.back());
    free_.pop_back();
  }
  while (free_.size() + in_use_ < capacity()) free_.push_back(&spare());
}

/// A slot that is neither free nor in use; a new one if there is none.
WorkerSlot& WorkerSlots::spare() {
  if (spare_.empty()) {
    WorkerSlot& slot = slots_.emplace_back();
    if (all_stopped_) slot.stop.stop_up_to(StopState::all);
    return slot;
  }
  WorkerSlot& slot = *spare_.back();
  spare_.pop_back();
  return slot;
}

}  // namespace laneway::pool
