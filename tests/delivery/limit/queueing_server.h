// A server and its caller in virtual time: the server works on `capacity` calls at a time and queues the
// others in the order of their coming, or refuses them; a share of the calls reaches a broken instance, which
// fails them whatever their number; the caller always has calls to make, and has as many in flight as its
// limit allows. Times are drawn from a seed: a run is the same each time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "delivery/limit/concurrency_limit.h"

namespace laneway::delivery::test {

enum class Overload : std::uint8_t { queues, refuses_503, refuses_429 };
enum class Times : std::uint8_t { steady, varying, exponential, log_normal, bimodal, some_5s };
enum class Broken : std::uint8_t { answers_503, answers_429, hangs };

struct ServerModel {
  Duration service = milliseconds(50);
  Times times = Times::steady;
  Overload overload = Overload::queues;
  Duration timeout = seconds(30);  ///< the caller gives up; the server works on
  Duration refusal = milliseconds(1);
  double failing = 0;  ///< share of the calls that reach the broken instance
  Broken broken = Broken::answers_503;
  std::uint64_t seed = 42;
};

/// What the caller saw of some time.
struct Seen {
  std::vector<double> latencies{};  // of calls that worked, in seconds
  std::uint64_t refused = 0;
  Duration time{};

  double rate() const { return static_cast<double>(latencies.size()) / to_seconds(time); }
  double percentile(double part) {
    if (latencies.empty()) return 0;
    const auto at =
        latencies.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(latencies.size() - 1));
    std::nth_element(latencies.begin(), at, latencies.end());
    return *at;
  }
};

class QueueingServer {
 public:
  using Observer = std::function<void(const EndedCalls&, TimePoint)>;

  QueueingServer(ServerModel model, std::uint32_t capacity, std::uint32_t limit)
      : model_(model), capacity_(capacity), limit_(limit), random_(model.seed), failures_(~model.seed) {}

  void observe(Observer observer) { observer_ = std::move(observer); }
  /// From a new capacity on the same calls come as to another server with this seed.
  void set_capacity(std::uint32_t capacity) {
    if (capacity == std::exchange(capacity_, capacity)) return;
    random_.seed(model_.seed + capacity);
  }
  void set_service(Duration service) { model_.service = service; }
  void set_failing(double share) { model_.failing = share; }
  void set_limit(std::uint32_t limit) { limit_ = limit; }
  void set_demand(std::uint32_t most) { demand_ = most; }  // calls that the caller has at a time
  TimePoint now() const { return now_; }

  Seen run(Duration time) {
    seen_ = {};
    seen_.time = time;
    const auto end = now_ + time;
    begin_calls();
    while (!events_.empty() && events_.top().at <= end) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      happen(event);
      begin_calls();
    }
    now_ = end;
    return std::move(seen_);
  }

 private:
  enum class What : std::uint8_t { served, refused, broken };
  struct Event {
    TimePoint at;
    TimePoint began;
    What what;
    bool operator>(const Event& other) const { return at > other.at; }
  };

  Duration draw() {
    const auto mean = static_cast<double>(model_.service.count());
    double drawn = mean * std::uniform_real_distribution<>(0.95, 1.05)(random_);
    if (model_.times == Times::varying) drawn = mean * std::uniform_real_distribution<>(0.7, 1.3)(random_);
    if (model_.times == Times::exponential) drawn = std::exponential_distribution<>(1 / mean)(random_);
    if (model_.times == Times::log_normal)
      drawn = mean * std::lognormal_distribution<>(-0.5, 1)(random_);  // its mean is 1
    if (model_.times == Times::bimodal) drawn = mean * (happens(0.1) ? 5.5 : 0.5);
    if (model_.times == Times::some_5s && happens(0.01))
      drawn = static_cast<double>(Duration(seconds(5)).count());
    return Duration(std::max<std::int64_t>(1, static_cast<std::int64_t>(drawn)));
  }

  bool happens(double share) { return std::uniform_real_distribution<>()(random_) < share; }
  /// Drawn apart from the times: the same calls come to a server, however many of them fail on the way.
  bool fails() { return std::uniform_real_distribution<>()(failures_) < model_.failing; }

  void begin_calls() {
    while (in_flight_ < std::min(limit_, demand_)) {
      ++in_flight_;
      if (fails())
        events_.push(
            {now_ + (model_.broken == Broken::hangs ? model_.timeout : model_.refusal), now_, What::broken});
      else if (model_.overload != Overload::queues && busy_ >= capacity_)
        events_.push({now_ + model_.refusal, now_, What::refused});
      else if (busy_ < capacity_)
        serve(now_);
      else
        queue_.push_back(now_);
    }
  }

  void serve(TimePoint began) {
    ++busy_;
    events_.push({now_ + draw(), began, What::served});
  }

  void happen(const Event& event) {
    const auto latency = std::min<Duration>(now_ - event.began, model_.timeout);
    EndedCalls calls{.latency = latency, .in_flight = in_flight_};
    if (event.what == What::broken) {
      auto& kind = model_.broken == Broken::hangs         ? calls.timeouts
                   : model_.broken == Broken::answers_429 ? calls.throttled
                                                          : calls.unavailable;
      kind = 1;
    } else if (event.what == What::refused) {
      (model_.overload == Overload::refuses_429 ? calls.throttled : calls.unavailable) = 1;
      ++seen_.refused;
    } else {
      --busy_;
      while (busy_ < capacity_ && !queue_.empty()) {
        const auto next = queue_.front();
        queue_.pop_front();
        serve(next);
      }
      (now_ - event.began >= model_.timeout ? calls.timeouts : calls.worked) = 1;
      if (calls.worked > 0) seen_.latencies.push_back(to_seconds(latency));
    }
    --in_flight_;
    if (observer_) observer_(calls, now_);
  }

  ServerModel model_;
  std::uint32_t capacity_;
  std::uint32_t limit_;
  std::uint32_t demand_ = 1'000'000;
  Observer observer_;
  std::mt19937_64 random_;
  std::mt19937_64 failures_;
  TimePoint now_ = TimePoint{} + std::chrono::hours(1);
  std::uint32_t in_flight_ = 0;
  std::uint32_t busy_ = 0;
  std::deque<TimePoint> queue_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Seen seen_;
};

}  // namespace laneway::delivery::test
