// A burst of records, some of which always fail, and then silence, in virtual time: lanes of processes that
// start, stop, die and share partitions work at one downstream. What becomes of each record is decided by the
// code under test: the attempts, the downstream, the ledger, the suspects and the headers of retry topics.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delivery/dead_letter/retry_headers.h"
#include "handler/forward/retry_record.h"
#include "handler/handler.h"
#include "lane/attempts/attempts.h"
#include "lane/commit/commit_position.h"
#include "lane/state/lane_state.h"

namespace laneway::lane {

/// What happens to the processes. A partition moves with what its last commit says.
enum class Event : std::uint8_t {
  stop,   ///< all processes stop, finish what runs, commit, and one starts again
  kill,   ///< the same without a last commit
  join,   ///< another process takes half of the partitions
  leave,  ///< the second process stops, and the first one takes its partitions
};

struct QuietStory {
  int records = 1000;
  double poison = 0.01;        ///< share of records that always fail
  std::vector<int> topics{};   ///< delays of the retry topics in seconds
  std::uint32_t attempts = 3;  ///< before the first retry topic
  double rate = 2000;          ///< records a second, until all have come
  std::uint32_t partitions = 4;
  std::uint32_t workers = 8;      ///< of a lane
  double latency = 0.005;         ///< seconds
  double varies = 0;              ///< the latency of records that work is log-normal, with this sigma
  double poison_latency = 0.005;  ///< of every failure
  std::vector<std::pair<double, Event>> events{};  ///< at seconds, in order
  double out_from = -1;                            ///< the downstream fails for every record from then on
  double out_until = -1;
  double seconds = 120;
  std::uint64_t dice = 1;
};

struct QuietOutcomes {
  std::set<int> letters{};
  std::map<int, double> given_up{};  ///< when
  std::map<int, double> done{};      ///< when first
  double not_closed = 0;             ///< seconds in which the breaker of a process was not closed
  double last_not_closed = -1;
};

class QuietSimulation {
 public:
  explicit QuietSimulation(QuietStory story) : story_(std::move(story)), dice_(story_.dice) {
    std::vector<std::pair<std::string, Duration>> path;
    for (const int delay : story_.topics) path.emplace_back("retry-" + std::to_string(delay), seconds(delay));
    if (!path.empty()) steps_.add("batch", path);
    names_ = {"batch"};
    for (const auto& [name, delay] : path) names_.push_back(name);
    for (int i = 0; i < story_.records; ++i) poison_.push_back(random() < story_.poison);
    processes_.push_back(std::make_unique<Process>(*this));
    for (std::uint32_t p = 0; p < story_.partitions; ++p) give(p, 0);
  }

  bool is_poison(int record) const { return poison_[static_cast<std::size_t>(record)]; }

  QuietOutcomes run() {
    auto event = story_.events.begin();
    while (ms_ < story_.seconds * 1000) {
      for (; event != story_.events.end() && time() >= event->first; ++event) happen(event->second);
      pass();
    }
    return outcomes_;
  }

 private:
  struct Written {
    int number;
    kafka::RecordData data;
    TimePoint at;
  };
  /// A partition of a topic, with its last commit.
  struct Log {
    std::vector<Written> records{};
    std::int64_t committed = 0;
    std::string metadata{};
  };
  using Key = std::pair<std::string, std::uint32_t>;

  class Lane;
  struct Process {
    explicit Process(QuietSimulation& simulation) : all(simulation) {
      context.retry.attempts = all.story_.attempts;
      context.retry.backoff = milliseconds(500);
      context.retry.max_backoff = seconds(2);
      auto& stage = context.stages.emplace_back();
      stage.downstream = &downstream;
      stage.handler = &all.handler_;
      context.forward = &all.handler_;
      context.retry_steps = all.story_.topics.empty() ? nullptr : &all.steps_;
    }
    void turn(int ms) {
      if (ms % 1000 == 0) downstream.settle(all.now_);
      for (const auto& [key, lane] : lanes) lane->turn(ms);
      if (downstream.closed()) return;
      all.outcomes_.not_closed += 0.001;
      all.outcomes_.last_not_closed = all.time();
    }

    QuietSimulation& all;
    Downstream downstream{"batch service", {.breaker = {}}};
    LaneContext context;
    std::map<Key, std::unique_ptr<Lane>> lanes{};
  };

  class Lane {
   public:
    Lane(QuietSimulation& all, Process& process, Key key, Log& log)
        : all_(all),
          process_(process),
          log_(log),
          id_{{key.first, static_cast<std::int32_t>(key.second)}, ++all.epoch_},
          step_(process.context.retry_steps == nullptr ? nullptr : all.steps_.find(key.first)),
          state_(seconds(5)),
          ledger_(ledger_of(committed())),
          suspects_(committed().suspects),
          oldest_({process.context.lanes, process.context.ledger, process.downstream, id_, ledger_, state_,
                   stats_},
                  false),
          attempts_(process.context, process.downstream, false, {id_, ledger_, oldest_, step_}),
          ids_(id_.partition),
          next_(log.committed) {}

    void turn(int ms) {
      end_calls();
      if (!drains_) {
        begin_failed();
        begin_new();
      }
      if (ms % 1000 == 0) commit();
    }
    /// Running records are finished; then the lane can end with a commit.
    void begin_drain() {
      note_suspects();
      attempts_.clear();
      drains_ = true;
    }
    bool drained() const { return running_.empty(); }

   private:
    struct Call {
      TimePoint began;
      TimePoint end;
      handler::Item item;
      int number;
      bool fails;
    };
    StoredCommit committed() const {
      return StoredCommit::read({id_.partition, log_.committed, log_.metadata});
    }

    int number_of(const handler::Item& item) const {
      return log_.records[static_cast<std::size_t>(item.offset())].number;
    }
    void end_calls() {
      std::vector<Call> left;
      for (auto& call : std::exchange(running_, {})) {
        if (call.end > all_.now_) {
          left.push_back(std::move(call));
          continue;
        }
        end(std::move(call));
        process_.downstream.task_ended();
      }
      std::move(left.begin(), left.end(), std::back_inserter(running_));
    }
    void end(Call call) {
      auto& item = call.item;
      const auto took = all_.now_ - call.began;
      if (!call.fails) {
        if (!process_.downstream.all_worked(1, 1, took, all_.now_))
          process_.downstream.worked(1, took, all_.now_);
        if (item.failures && item.failures->blame.counted() > 0)
          process_.downstream.recovered(item.failures->blame.counted());
        return finished(item, true);
      }
      const std::string reason = "HTTP 500";
      FailedCall failed{.record = ids_.of(item), .suspect = item.suspect, .took = took, .reason = reason};
      if (item.failures) failed.before = &item.failures->blame;
      process_.downstream.failed(failed, all_.now_);
      const auto outcome = handler::Outcome::retry(reason);
      if (drains_) return attempts_.fail_in_drain(item, outcome, took, all_.now_);
      if (auto next = attempts_.fail(std::move(item), outcome, took, all_.now_)) forward(std::move(*next));
    }
    void finished(const handler::Item& item, bool worked) {
      const auto number = number_of(item);
      if (worked) all_.outcomes_.done.emplace(number, all_.time());
      ledger_.complete(item.sequence);
    }
    void forward(handler::Item item) {
      const auto number = number_of(item);
      if (item.route() == handler::Route::dead_letter) {
        all_.outcomes_.letters.insert(number);
        all_.outcomes_.given_up.emplace(number, all_.time());
      } else {
        all_.write(item, step_->next, number);
      }
      finished(item, false);
    }

    void begin_failed() {
      auto& downstream = process_.downstream;
      if (!attempts_.due(all_.now_)) return;
      auto room = downstream.room(this, all_.now_, attempts_.only_suspects());
      const bool probing = !downstream.closed();
      for (; room > 0 && running_.size() < all_.story_.workers && attempts_.due(all_.now_); --room) {
        auto item = attempts_.pop(all_.now_, probing);
        if (!item) return;
        if (!attempts_.begins(*item, all_.now_)) continue;
        if (item->route() != handler::Route::work)
          forward(std::move(*item));
        else
          begin(std::move(*item));
      }
    }
    void begin_new() {
      const auto end = static_cast<std::int64_t>(log_.records.size());
      while (running_.size() < all_.story_.workers && next_ < end && attempts_.waiting().fresh() == 0) {
        const auto offset = next_++;
        const auto sequence = ledger_.append(offset);
        if (ledger_.completed_before(offset)) {
          ledger_.complete(sequence);
          continue;
        }
        const auto& written = log_.records[static_cast<std::size_t>(offset)];
        handler::Item item;
        item.record = kafka::Record(written.data);
        item.sequence = sequence;
        item.left_behind = ledger_.left_behind(offset);
        item.suspect = suspects_.contains(offset);
        if (step_ != nullptr && step_->delayed()) {
          handler::restore_origin(item, *step_, all_.steps_);
          attempts_.put_off(std::move(item), written.at + step_->delay);
        } else {
          begin(std::move(item));
        }
      }
    }
    void begin(handler::Item item) {
      if (!process_.downstream.admit(this, 1, all_.now_)) {
        auto outcome = handler::Outcome::unavailable({});
        outcome.cause = handler::Cause::withheld;
        (void)attempts_.fail(std::move(item), outcome, {}, all_.now_);
        return;
      }
      const auto number = number_of(item);
      const bool fails = all_.is_poison(number) || all_.is_out();
      running_.push_back({all_.now_, all_.now_ + all_.latency(fails), std::move(item), number, fails});
    }

    void note_suspects() {
      Suspects::Seen seen;
      attempts_.see_suspects(seen);
      suspects_.note(seen, ledger_);
    }

   public:
    void commit() {
      note_suspects();
      log_.committed = ledger_.committable();
      const StoredCommit commit{.offset = log_.committed,
                                .suspects = suspects_.offsets(),
                                .map = ledger_.completed(most_runs(default_map_bytes))};
      log_.metadata = commit.written().metadata;
    }

   private:
    QuietSimulation& all_;
    Process& process_;
    Log& log_;
    const LaneId id_;
    const delivery::RetryStep* const step_;
    LaneState state_;
    LaneStats stats_;
    Ledger ledger_;
    Suspects suspects_;
    OldestWatch oldest_;
    Attempts attempts_;
    const RecordIds ids_;
    std::int64_t next_;
    std::vector<Call> running_;
    bool drains_ = false;
  };

  class Nobody final : public handler::RecordHandler {
   public:
    std::string name() const override { return "nobody"; }

   private:
    handler::Outcome handle_record(const handler::Attempt&) override { return handler::Outcome::done(); }
  };

  double random() { return std::uniform_real_distribution<>(0, 1)(dice_); }
  double time() const { return to_seconds(now_ - begin_); }
  Duration latency(bool fails) {
    const double varies = fails ? 0 : story_.varies * std::normal_distribution<>()(dice_);
    const double latency = (fails ? story_.poison_latency : story_.latency) * std::exp(varies);
    return microseconds(static_cast<std::int64_t>(latency * 1e6));
  }
  bool is_out() const { return time() >= story_.out_from && time() < story_.out_until; }

  void arrive() {
    for (; came_ < story_.records && came_ < story_.rate * (time() + 0.001); ++came_)
      append({"batch", static_cast<std::uint32_t>(came_) % story_.partitions}, came_, {});
  }
  void append(const Key& key, int number,
              std::vector<std::pair<std::string, std::optional<std::string>>> headers) {
    auto& log = logs_[key];
    kafka::RecordData data;
    data.topic = key.first;
    data.partition = static_cast<std::int32_t>(key.second);
    data.offset = static_cast<std::int64_t>(log.records.size());
    data.value = std::to_string(number);
    data.headers = std::move(headers);
    log.records.push_back({number, std::move(data), now_});
  }
  void write(const handler::Item& item, const std::string& topic, int number) {
    delivery::RetryOrigin origin;
    origin.topic = item.record.topic();
    origin.partition = item.record.partition();
    origin.offset = item.record.offset();
    origin.attempts = item.attempt;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    for (auto& header : delivery::retry_headers({}, origin)) headers.emplace_back(header.name, header.value);
    append({topic, static_cast<std::uint32_t>(origin.partition)}, number, std::move(headers));
  }

  /// The process reads the partition of every topic.
  void give(std::uint32_t partition, std::size_t process) {
    for (const auto& name : names_) {
      const Key key{name, partition};
      auto& to = *processes_[process];
      to.lanes.emplace(key, std::make_unique<Lane>(*this, to, key, logs_[key]));
    }
  }
  void take(std::uint32_t partition, std::size_t process) {
    for (const auto& name : names_) processes_[process]->lanes.erase({name, partition});
  }
  /// These lanes finish what runs, while the others go on, and commit.
  void drain(const std::vector<Lane*>& lanes) {
    for (auto* lane : lanes) lane->begin_drain();
    while (!std::all_of(lanes.begin(), lanes.end(), [](auto* lane) { return lane->drained(); })) pass();
    for (auto* lane : lanes) lane->commit();
  }
  /// Those of every second partition, or all.
  std::vector<Lane*> lanes_of(std::size_t process, std::uint32_t step) {
    std::vector<Lane*> lanes;
    for (const auto& [key, lane] : processes_[process]->lanes)
      if (key.second % step == 0) lanes.push_back(lane.get());
    return lanes;
  }
  void pass() {
    now_ = begin_ + milliseconds(ms_);
    arrive();
    for (const auto& process : processes_) process->turn(ms_);
    ++ms_;
  }
  void happen(Event event) {
    if (event == Event::join) {
      drain(lanes_of(0, 2));
      processes_.push_back(std::make_unique<Process>(*this));
      for (std::uint32_t p = 0; p < story_.partitions; p += 2) {
        take(p, 0);
        give(p, 1);
      }
      return;
    }
    if (event == Event::leave) {
      drain(lanes_of(1, 1));
      for (std::uint32_t p = 0; p < story_.partitions; p += 2) {
        take(p, 1);
        give(p, 0);
      }
      processes_.pop_back();
      return;
    }
    if (event == Event::stop) {
      std::vector<Lane*> all;
      for (std::size_t i = 0; i < processes_.size(); ++i) {
        const auto lanes = lanes_of(i, 1);
        all.insert(all.end(), lanes.begin(), lanes.end());
      }
      drain(all);
    }
    processes_.clear();
    processes_.push_back(std::make_unique<Process>(*this));
    for (std::uint32_t p = 0; p < story_.partitions; ++p) give(p, 0);
  }

  const QuietStory story_;
  std::mt19937_64 dice_;
  // The code under test looks at the clock, which must not be later than the virtual time.
  const TimePoint begin_ = SteadyClock::now() + std::chrono::hours(1);
  TimePoint now_ = begin_;
  int ms_ = 0;
  Nobody handler_;
  delivery::RetrySteps steps_;
  std::vector<std::string> names_;
  std::vector<bool> poison_;
  std::map<Key, Log> logs_;
  std::uint64_t epoch_ = 0;
  int came_ = 0;
  QuietOutcomes outcomes_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace laneway::lane
