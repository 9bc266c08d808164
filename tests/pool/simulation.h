// Pools without threads whose claims take time on a manual clock: hours of work in a moment, the same each
// time.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "manual_clock.h"
#include "pool/help.h"
#include "support.h"

namespace laneway::pool {

class Simulation {
 public:
  /// One pool. Claims are of one job.
  class Tier {
   public:
    Tier(Simulation& simulation, const Limits& limits, Duration takes)
        : simulation_(simulation),
          takes_(takes),
          pool_(
              limits, [this](const Claim& claim) { begin(claim); }, TestPool::Finish::later) {}

    Pool* operator->() { return pool_.operator->(); }
    void submit(int count = 1) {
      for (; count > 0; --count) {
        jobs_.push_back(std::make_unique<Timed>());
        if (pool_->try_submit(*jobs_.back()).taken != 1) FAIL("The pool is full.");
      }
    }
    /// There are always jobs in the queue.
    void submit_endlessly() { endless_ = true; }
    /// One job in each `interval`.
    void submit_each(Duration interval) { interval_ = interval; }
    /// The next claim does not end.
    void hang() { hangs_ = true; }

    int begun() const { return begun_; }
    /// The time of all claims that have begun.
    Duration worked() const { return begun_ * takes_; }
    Duration longest_wait() const { return longest_wait_; }

   private:
    friend class Simulation;
    struct Timed : Jobs {
      Timed() : Jobs(1) {}
      const TimePoint submitted = ManualClock::now();
    };

    void begin(const Claim& claim) {
      run_jobs(claim);
      const auto now = ManualClock::now();
      longest_wait_ = std::max(longest_wait_, now - static_cast<Timed&>(*claim.range.batch).submitted);
      ++begun_;
      if (std::exchange(hangs_, false))
        hanging_.push_back(claim);
      else
        simulation_.ends_.emplace(now + takes_, std::pair(this, claim));
    }
    void feed() {
      while (endless_ && pool_->snapshot().queued < 100) submit();
    }

    Simulation& simulation_;
    const Duration takes_;
    int begun_ = 0;
    Duration longest_wait_{};
    bool endless_ = false;
    Duration interval_{};
    TimePoint next_ = ManualClock::now();
    bool hangs_ = false;
    std::vector<Claim> hanging_;
    std::vector<std::unique_ptr<Timed>> jobs_;
    TestPool pool_;
  };

  ~Simulation() {
    for (auto& tier : tiers_) {
      tier.endless_ = false;
      tier->close();
      tier->withdraw(0);
    }
    while (!ends_.empty()) end_next();
    for (auto& tier : tiers_)
      for (const auto& claim : tier.hanging_) tier->finish(claim);
    while (!ends_.empty()) end_next();
    for (auto& tier : tiers_) CHECK(tier->join(Deadline::in(Duration::zero())));
  }

  Tier& add(Limits limits, Duration takes, const std::vector<Tier*>& helps = {}) {
    limits.asynchronous = true;
    limits.most_per_claim = 1;
    auto& tier = tiers_.emplace_back(*this, limits, takes);
    std::vector<Pool*> pools;
    for (auto* other : helps) pools.push_back(other->operator->());
    if (!pools.empty()) help(*tier.operator->(), pools);
    return tier;
  }

  void run_for(Duration time) {
    for (const auto until = ManualClock::now() + time;;) {
      for (auto& tier : tiers_) tier.feed();
      auto at = until;
      Tier* next = nullptr;
      for (auto& tier : tiers_) {
        if (tier.interval_ == Duration::zero() || tier.next_ >= at) continue;
        at = tier.next_;
        next = &tier;
      }
      if (!ends_.empty() && ends_.begin()->first <= at) {
        end_next();
      } else if (next != nullptr) {
        clock_.advance_to(at);
        next->next_ += next->interval_;
        next->submit();
      } else {
        return clock_.advance_to(until);
      }
    }
  }

 private:
  void end_next() {
    const auto [time, ended] = *ends_.begin();
    const auto [tier, claim] = ended;
    ends_.erase(ends_.begin());
    clock_.advance_to(time);
    tier->pool_->finish(claim);
  }

  ManualClock clock_;
  std::multimap<TimePoint, std::pair<Tier*, Claim>> ends_;
  std::deque<Tier> tiers_;
};

}  // namespace laneway::pool
