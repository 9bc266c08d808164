// A few lanes that work at a downstream, in virtual time: records come at a rate, some are poison records,
// calls take a while, and the downstream fails as a story says. What becomes of each record is decided by the
// code under test: the breaker, and the blame of each record.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "delivery/failure/blame.h"

namespace laneway::delivery {

struct Story {
  double rate = 200;  ///< records a second
  std::uint32_t workers = 16;
  std::uint32_t lanes = 4;
  bool ordered = false;  ///< a lane has one record at work, and none overtakes another
  double poison = 0;     ///< share of records that always fail
  double seconds = 60;
  int step_ms = 1;      ///< of the virtual time
  double overdue = 10;  ///< seconds after which a record should not wait any more
  Duration latency = milliseconds(5);
  /// The share of calls that fail at a time, in seconds since the beginning.
  std::function<double(double)> failing = [](double) { return 0.0; };
  FailureRules rules{{milliseconds(100), milliseconds(500)}, 3, std::chrono::minutes(5), true};
  BreakerRules breaker{5, std::chrono::seconds(30), std::chrono::seconds(1)};
  std::uint64_t dice = 1;
};

struct Outcomes {
  int done = 0;
  int good_letters = 0;    ///< records that would have worked, and were given up
  int poison_letters = 0;  ///< poison records that were given up
  int waiting_good = 0;    ///< at the end, of those that are overdue
  int waiting_poison = 0;
  int calls_while_out = 0;
  std::uint32_t most_attempts = 0;  ///< of a poison record that was given up
  std::uint32_t fewest_attempts = 1000000;
};

class OutageSimulation {
 public:
  explicit OutageSimulation(Story story)
      : story_(std::move(story)), dice_(story_.dice), breaker_(story_.breaker), lanes_(story_.lanes) {}

  Outcomes run() {
    for (int ms = 0; ms < story_.seconds * 1000; ms += story_.step_ms) {
      now_ = begin_ + milliseconds(ms);
      if (ms % 1000 == 0) breaker_.look(now_, running_);
      arrive();
      end_calls();
      while (calls_.size() < story_.workers && begin_one()) {
      }
    }
    for (const auto& lane : lanes_)
      for (const auto& record : lane.waiting)
        if (to_seconds(now_ - record.came) > story_.overdue)
          ++(record.poison ? outcomes_.waiting_poison : outcomes_.waiting_good);
    return outcomes_;
  }

 private:
  struct Record {
    RecordId id;
    std::size_t lane;
    bool poison;
    TimePoint came;
    std::unique_ptr<Blame> blame{};
    bool undecided = false;
    TimePoint due{};
    std::uint32_t attempts = 0;
  };
  struct Lane {
    std::deque<Record> fresh{};
    std::vector<Record> waiting{};
    std::uint32_t busy = 0;
    bool fresh_next = false;
  };
  struct Call {
    TimePoint end;
    Record record;
    bool fails;
  };

  double random() { return std::uniform_real_distribution<>(0, 1)(dice_); }
  bool closed() const { return breaker_.state() == Breaker::State::closed; }

  void arrive() {
    for (owed_ += story_.rate * story_.step_ms / 1000; owed_ >= 1; owed_ -= 1) {
      const auto lane = next_ % lanes_.size();
      lanes_[lane].fresh.push_back({next_++, lane, random() < story_.poison, now_});
    }
  }

  void end_calls() {
    std::vector<Call> left;
    for (auto& call : std::exchange(calls_, {}))
      if (call.end <= now_)
        end(std::move(call));
      else
        left.push_back(std::move(call));
    calls_ = std::move(left);
  }

  void end(Call call) {
    auto& record = call.record;
    auto& lane = lanes_[record.lane];
    --lane.busy;
    --running_;
    if (!call.fails) {
      breaker_.succeeded(now_, 1);
      if (record.blame) breaker_.recovered(record.blame->counted());
      ++outcomes_.done;
      return;
    }
    if (!closed()) ++outcomes_.calls_while_out;
    breaker_.failed(now_, {.record = record.id,
                           .repeated = record.blame && record.blame->repeats(breaker_),
                           .beside = running_});
    if (!record.blame) record.blame = std::make_unique<Blame>();
    const FailedAttempt attempt{
        .record = record.id, .ended = now_, .took = story_.latency, .random = random()};
    const auto step = record.blame->failed(breaker_, attempt, story_.rules);
    follow(std::move(record), step);
  }

  void follow(Record record, const Blame::Step& step) {
    if (step.given_up) {
      ++(record.poison ? outcomes_.poison_letters : outcomes_.good_letters);
      if (!record.poison) return;
      outcomes_.most_attempts = std::max(outcomes_.most_attempts, record.attempts);
      outcomes_.fewest_attempts = std::min(outcomes_.fewest_attempts, record.attempts);
      return;
    }
    record.undecided = step.undecided;
    record.due = now_ + step.delay;
    lanes_[record.lane].waiting.push_back(std::move(record));
  }

  bool begin_one() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      auto& lane = lanes_[(turn_ + i) % lanes_.size()];
      if (lane.busy >= (story_.ordered ? 1 : std::max<std::size_t>(1, story_.workers / lanes_.size())))
        continue;
      if (breaker_.room(now_) == 0) return false;
      auto record = pick(lane);
      if (!record) continue;
      turn_ += i + 1;
      breaker_.begin(now_, 1);
      ++lane.busy;
      ++running_;
      ++record->attempts;
      const double time = to_seconds(now_ - begin_);
      const bool fails = record->poison || random() < story_.failing(time);
      calls_.push_back({now_ + story_.latency, std::move(*record), fails});
      return true;
    }
    return false;
  }

  void reconsider(Lane& lane) {
    const auto is_due = [&](const Record& record) { return record.undecided && record.due <= now_; };
    if (std::none_of(lane.waiting.begin(), lane.waiting.end(), is_due)) return;
    for (auto& record : std::exchange(lane.waiting, {}))
      if (is_due(record)) {
        const auto step = record.blame->reconsider(breaker_, story_.rules, now_, random());
        follow(std::move(record), step);
      } else {
        lane.waiting.push_back(std::move(record));
      }
  }

  /// As lane/ledger/waiting_records.h does it: while the downstream is out, by turns one that failed and a
  /// fresh one.
  std::optional<Record> pick(Lane& lane) {
    reconsider(lane);
    auto first = lane.waiting.end();
    for (auto at = lane.waiting.begin(); at != lane.waiting.end(); ++at)
      if (!at->undecided && at->due <= now_ && (first == lane.waiting.end() || at->due < first->due))
        first = at;
    const bool blocked = story_.ordered && !lane.waiting.empty();
    const bool full = lane.waiting.size() >= 1000 && closed();
    const bool may_fresh = !blocked && !lane.fresh.empty() && !full;
    const bool fresh = may_fresh && (first == lane.waiting.end() || (!closed() && lane.fresh_next));
    if (!fresh && first == lane.waiting.end()) return {};
    if (!closed()) lane.fresh_next = !fresh;
    std::optional<Record> record;
    if (fresh) {
      record = std::move(lane.fresh.front());
      lane.fresh.pop_front();
    } else {
      record = std::move(*first);
      lane.waiting.erase(first);
    }
    return record;
  }

  const Story story_;
  std::mt19937_64 dice_;
  Breaker breaker_;
  std::vector<Lane> lanes_;
  std::vector<Call> calls_;
  std::uint32_t running_ = 0;
  Outcomes outcomes_;
  const TimePoint begin_{std::chrono::hours(1)};
  TimePoint now_ = begin_;
  RecordId next_ = 1;
  double owed_ = 0;
  std::size_t turn_ = 0;
};

inline Outcomes told(const Story& story) { return OutageSimulation(story).run(); }

}  // namespace laneway::delivery
