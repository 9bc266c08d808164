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
  if (lender != nullptr) {
    ++counts_.borrowed;
  } else {
    free_.pop_back();
    --counts_.free;
    ++counts_.in_use;
  }
  slot.in_use = true;
  slot.range = range;
  slot.weight = weight;
  slot.permit = permit;
  slot.lender = lender;
  slot.left = 0;
  slot.current_.store(0, std::memory_order_relaxed);
  slot.one_by_one_.store(false, std::memory_order_relaxed);
  slot.first_ticket = slot.next_ticket;
  slot.next_ticket += range.count();
  slot.started = now;
  return {range, &slot, slot.first_ticket};
}

void WorkerSlots::give_back(WorkerSlot& slot) {
  --(slot.lender != nullptr ? counts_.borrowed : counts_.in_use);
  counts_.stuck -= slot.stuck;
  if (slot.lender != nullptr) stuck_borrowed_ -= slot.stuck;
  spare_.push_back(&slot);
  provide();
  slot.in_use = false;
  slot.stuck = false;
  slot.permit = false;
  slot.own_share = false;
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
      ++counts_.expired;
    }
    if (!slot.gets_stuck(now, job_deadline_, stuck_after_)) continue;
    found.jobs.push_back(slot.seen_job());
    found.permits += std::exchange(slot.permit, false);
    found.own_share += std::exchange(slot.own_share, false);
    ++counts_.stuck;
    if (slot.lender == nullptr) continue;
    ++stuck_borrowed_;
    found.lenders.push_back(slot.lender);
  }
  provide();
  return found;
}

void WorkerSlots::lend() {
  ++counts_.lent;
  provide();
}

void WorkerSlots::end_loan(bool stuck) {
  --counts_.lent;
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

/// Provides as many free slots as are allowed. The stuck claims on own slots are replaced.
void WorkerSlots::provide() {
  const auto stuck = counts_.stuck - stuck_borrowed_ + static_cast<std::uint32_t>(std::max(stuck_lent_, 0));
  counts_.most = workers_ + std::min({stuck, workers_, most_replaced});
  const auto capacity = counts_.most - std::min(counts_.most, counts_.lent);
  while (free_.size() + counts_.in_use > capacity && !free_.empty()) {
    spare_.push_back(free_.back());
    free_.pop_back();
  }
  while (free_.size() + counts_.in_use < capacity) free_.push_back(&spare());
  counts_.free = static_cast<std::uint32_t>(free_.size());
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
