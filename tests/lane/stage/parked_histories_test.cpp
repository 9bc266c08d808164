// Random histories of lanes that park: random pools (random_pools.h), stages, sub-jobs and subscribers, of
// which any may be out for a while; retry topics that refuse records for a while; stops and kills at any
// moment. In virtual time, on one thread. After every commit, each record below it is done, or a record of a
// retry topic that is not committed stands for what is left of it. A dead letter was rejected, or it is older
// than longest_wait and a subscriber of the pool has worked since it came. LANEWAY_SEEDS=10000 runs more
// histories, LANEWAY_FIRST_SEED=n begins elsewhere.
#include <map>
#include <set>
#include <stdexcept>

#include "captured_log.h"
#include "config/pools/parking.h"
#include "lane/stage/parked_topics.h"
#include "lane/stage/random_pools.h"
#include "pool/permits.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

constexpr std::int64_t parked_records = 80;
constexpr DownstreamRules shipped_rules{
    .breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}};

/// Whether what happens to the sub-job (or to the record, if `part` is empty) happens to the job at `path`.
bool covers(const std::string& part, const std::string& path) {
  return part.empty() || path == part || path.starts_with(part + "/");
}

std::string header_of(const kafka::RecordData& record, const std::string& wanted) {
  for (const auto& [name, value] : record.headers)
    if (name == wanted) return value.value_or("");
  return {};
}

/// The downstreams of the pools, and what they have done. The first broken rule is kept.
class ParkedJudge {
 public:
  ParkedJudge(const RandomPools& plan, const TimePoint& now) : plan_(plan), now_(now) {}

  Outcome call(int pool, const handler::Attempt& attempt) {
    const auto offset = attempt.record.offset();
    const Job job{pool, std::string(attempt.part)};
    demand(attempt.number <= 1 + failed_[offset],
           "an attempt counts only if it failed: " + text(offset, job));
    const auto subscriber = std::string(attempt.record.key().value_or("")) + job.path;
    if (out_.contains({pool, ""}) || out_.contains({pool, subscriber.substr(subscriber.size() - 1)}))
      return Outcome::unavailable("out");
    const auto fate = plan_.fate(offset, job);
    if (failures_[{offset, job}] < fate.failures) {
      ++failures_[{offset, job}];
      ++failed_[offset];
      return Outcome::retry("not yet");
    }
    if (fate.rejected) {
      rejected_.insert({offset, job.path});
      return Outcome::reject("never");
    }
    ++done_[offset][job];
    worked_[pool] = now_;
    return results_of(fate);
  }
  void written(std::int64_t offset) { written_[offset] = now_; }
  void letter(const handler::Attempt& letter, const std::string& part) {
    const auto offset = letter.record.offset();
    ++letters_[offset][part];
    if (letter.failures->given_up == delivery::DeadLetterReason::rejected)
      return demand(was_rejected(offset, part), "what is rejected is a dead letter: " + text(offset, part));
    demand(letter.failures->given_up == delivery::DeadLetterReason::too_old && may_be_too_old(offset),
           "a dead letter is old, and a subscriber has worked: " + text(offset, part));
    ++too_old_;
  }
  std::size_t too_old() const { return too_old_; }

  /// Of a pool, all that it gets or what ends in this letter.
  void set_out(int pool, const std::string& what, bool out) {
    if (out)
      out_.insert({pool, what});
    else
      out_.erase({pool, what});
  }
  void all_work() { out_.clear(); }

  /// The parts of the record that retry topics have, and that are not committed there.
  using Parked = std::map<std::int64_t, std::set<std::string>>;
  void committed(std::int64_t offset, const Parked& parked) {
    for (std::int64_t below = 0; below < offset; ++below)
      for (const auto& job : plan_.jobs_of(below))
        if (times(below, job) == 0)
          demand(in(parked, below, job.path), "what is committed is done or parked: " + text(below, job));
  }
  /// Whether all jobs of all records are done.
  bool complete() const {
    for (std::int64_t offset = 0; offset < parked_records; ++offset)
      for (const auto& job : plan_.jobs_of(offset))
        if (times(offset, job) == 0) return false;
    return true;
  }
  /// The jobs after which nothing follows were done once.
  void demand_once() {
    for (std::int64_t offset = 0; offset < parked_records; ++offset)
      for (const auto& job : plan_.jobs_of(offset))
        if (job.pool < 0 || plan_.pools[static_cast<std::size_t>(job.pool)].then < 0)
          demand(times(offset, job) == 1, "a job is done once: " + text(offset, job) + ", " +
                                              std::to_string(times(offset, job)) + " times");
  }
  void demand(bool holds, const std::string& rule) {
    if (!holds && broken_.empty()) broken_ = rule;
  }
  const std::string& broken() const { return broken_; }

 private:
  /// After a pool that gathers, a sub-job that came back is a whole record.
  bool was_rejected(std::int64_t offset, const std::string& part) const {
    return std::any_of(rejected_.begin(), rejected_.end(), [&](const auto& rejected) {
      return rejected.first == offset && (covers(part, rejected.second) || covers(rejected.second, part));
    });
  }
  /// Whether a pool in which the record was to run next gives up what is so old.
  bool may_be_too_old(std::int64_t offset) const {
    const auto came = written_.at(offset);
    for (std::size_t pool = 0; pool < plan_.pools.size(); ++pool) {
      const auto worked = worked_.find(static_cast<int>(pool));
      const auto longest = plan_.pools[pool].settings.each.longest_wait;
      if (longest > Duration::zero() && now_ - came >= longest && worked != worked_.end() &&
          worked->second >= came)
        return true;
    }
    return false;
  }
  static std::string text(std::int64_t offset, const std::string& part) {
    return "record " + std::to_string(offset) + ", sub-job '" + part + "'";
  }
  static std::string text(std::int64_t offset, const Job& job) {
    return "record " + std::to_string(offset) + " in pool " + std::to_string(job.pool) + ", sub-job '" +
           job.path + "'";
  }
  static bool in(const Parked& parked, std::int64_t offset, const std::string& path) {
    const auto found = parked.find(offset);
    return found != parked.end() && std::any_of(found->second.begin(), found->second.end(),
                                                [&](const auto& part) { return covers(part, path); });
  }
  static Outcome results_of(const Fate& fate) {
    if (fate.result == Fate::Result::none) return Outcome::done();
    if (fate.result == Fate::Result::one) return Outcome::done(handler::Parts{{"", {}, "one", {}}});
    handler::Parts parts;
    for (std::uint32_t i = 0; i < fate.parts; ++i)
      parts.push_back({std::to_string(i), {}, "part", {}, i % 2 == 0});
    return Outcome::done(std::move(parts));
  }
  /// How often the job was done, or given up.
  std::uint32_t times(std::int64_t offset, const Job& job) const {
    std::uint32_t times = 0;
    if (const auto found = letters_.find(offset); found != letters_.end())
      for (const auto& [part, letters] : found->second)
        if (covers(part, job.path)) times += letters;
    if (const auto found = done_.find(offset); found != done_.end())
      if (const auto of_job = found->second.find(job); of_job != found->second.end()) times += of_job->second;
    return times;
  }

  const RandomPools& plan_;
  const TimePoint& now_;
  std::map<std::int64_t, TimePoint> written_;
  std::map<int, TimePoint> worked_;  // by pool: when the last record of any subscriber was done
  std::set<std::pair<std::int64_t, std::string>> rejected_;
  std::size_t too_old_ = 0;
  std::set<std::pair<int, std::string>> out_;
  std::map<std::pair<std::int64_t, Job>, std::uint32_t> failures_;
  std::map<std::int64_t, std::uint32_t> failed_;
  std::map<std::int64_t, std::map<Job, std::uint32_t>> done_;
  std::map<std::int64_t, std::map<std::string, std::uint32_t>> letters_;
  std::string broken_;
};

/// An instance with the pools of a plan.
class PlannedInstance : public ParkingInstance {
 public:
  PlannedInstance(ParkedTopics& topics, TimePoint& now, const RandomPools& plan, ParkedJudge& judge,
                  handler::Handler& letters, Commits& commits)
      : ParkingInstance(topics, now), judge_(judge) {
    context.forward = &letters;
    context.retry.attempts = 1000;
    context.lanes.max_incomplete = 40;
    if (!config::has_neighbours(config_of(plan))) context.parking = nullptr;
    route_.by = {config::Selector::Kind::key, ""};
    for (const auto entry : plan.entries)
      route_.rows.push_back({std::to_string(entry) + "-", true, std::to_string(entry)});
    route_.otherwise = std::to_string(plan.entries.front());
    for (std::size_t i = 0; i < plan.pools.size(); ++i) add(plan.pools[i], static_cast<int>(i));
    std::vector<std::string> names;
    for (const auto& pool : plan.pools) names.push_back(pool.settings.name);
    router_.emplace(route_, names);
    context.router = &*router_;
    start(commits);
  }
  ~PlannedInstance() { end_lanes(); }
  PlannedInstance(const PlannedInstance&) = delete;

 private:
  static config::Config config_of(const RandomPools& plan) {
    config::Config config;
    for (const auto& [settings, then] : plan.pools) {
      config.pools.push_back(settings);
      if (then >= 0) config.pools.back().then = std::to_string(then);
    }
    return config;
  }
  void add(const RandomPools::Pool& planned, int place) {
    auto& pool = context.stages.emplace_back();
    pool.settings = planned.settings;
    pool.then = planned.then;
    pool.handler =
        works_
            .emplace_back(std::make_unique<InstantHandler>(
                [this, place](const handler::Attempt& attempt) { return judge_.call(place, attempt); }))
            .get();
    const auto& name = planned.settings.name;
    pool.downstream =
        downstreams_
            .emplace_back(std::make_unique<Downstream>(name, shipped_rules, Downstream::Calls::of_pool, name))
            .get();
    if (planned.settings.total > 0)
      pool.permits = permits_.emplace_back(std::make_unique<pool::Permits>(planned.settings.total)).get();
    if (!planned.settings.each.by.enabled()) return;
    each_.push_back(std::make_unique<KeyedLimits>(name, shipped_rules, planned.settings.each));
    pool.each = each_.back().get();
  }

  ParkedJudge& judge_;
  config::RouteSettings route_;
  std::optional<Router> router_;
  std::vector<std::unique_ptr<InstantHandler>> works_;
  std::vector<std::unique_ptr<Downstream>> downstreams_;
  std::vector<std::unique_ptr<pool::Permits>> permits_;
  std::vector<std::unique_ptr<KeyedLimits>> each_;
};

class ParkedHistory {
 public:
  explicit ParkedHistory(std::uint64_t seed) : plan_(seed), judge_(plan_, now_) {
    plan_.ordered = false;
    for (auto& [settings, then] : plan_.pools) {
      if (settings.each.by.enabled() && plan_.chance(2)) settings.each.rate = {.records = 1 + plan_.below(3)};
      if (settings.each.by.enabled() && plan_.chance(4)) settings.each.longest_wait = seconds(30);
    }
    begin();
  }

  struct Counts {
    std::size_t parked = 0;
    std::size_t too_old = 0;
  };
  Counts run() {
    while (written_ < parked_records) step();
    judge_.all_work();
    instance_->brokers_refuse = false;
    for (int steps = 0; !finished(); ++steps) {
      pass(seconds(2));
      if (steps == 20000) throw std::runtime_error("all is done in the end: " + open() + plan_.text());
    }
    judge_.demand(judge_.complete(), "all is done in the end");
    // A drain gives a record back whole whose sub-jobs are gathered, and where nothing is parked.
    const auto gathers = [](const RandomPools::Pool& pool) { return pool.settings.gather; };
    const bool parks = instance_->context.parking != nullptr;
    if (once_ && parks && std::none_of(plan_.pools.begin(), plan_.pools.end(), gathers)) judge_.demand_once();
    check();
    std::size_t parked = 0;
    for (const auto& topic : retry_topics()) parked += topics_.log(topic).size();
    return {parked, judge_.too_old()};
  }

 private:
  static std::vector<std::string> retry_topics() {
    std::vector<std::string> topics;
    for (const auto& [topic, delay] : ParkingInstance::shipped_delays()) topics.push_back(topic);
    return topics;
  }
  void begin() {
    instance_ = std::make_unique<PlannedInstance>(topics_, now_, plan_, judge_, letters_, commits_);
  }
  void step() {
    const auto choice = plan_.below(100);
    if (choice < 20) write();
    if (choice == 20) return end_life(plan_.chance(2));
    if (choice == 21) instance_->brokers_refuse = plan_.chance(2);
    if (choice > 90) {
      const auto pool = static_cast<int>(plan_.below(plan_.pools.size()));
      const auto what = plan_.chance(2) ? std::string() : std::to_string(plan_.below(3));
      judge_.set_out(pool, what, plan_.chance(2));
    }
    pass(choice > 80 ? seconds(10) : milliseconds(50 + plan_.below(500)));
  }
  void write() {
    kafka::RecordData record;
    record.key = RandomPools::key(plan_.entry_of(written_), plan_.below(3));
    topics_.write({"events", 0}, std::move(record));
    judge_.written(written_);
    ++written_;
  }
  void pass(Duration time) {
    for (const auto end = now_ + time; now_ < end;) {
      now_ += std::min<Duration>(end - now_, milliseconds(500));
      instance_->turn();
      if (now_ - settled_at_ < seconds(1)) continue;
      instance_->settle();
      settled_at_ = now_;
    }
    if (!plan_.chance(3)) return;
    instance_->commit();
    judge_commits();
  }
  /// By a drain, as in a rebalance, or without one, as in a kill.
  void end_life(bool drains) {
    const bool refuses = instance_->brokers_refuse;
    once_ = once_ && drains && !refuses;
    if (drains) {
      instance_->context.lanes.drain_queued =
          plan_.chance(2) ? config::DrainQueued::give_back : config::DrainQueued::finish;
      instance_->stop();
      judge_commits();
    }
    instance_.reset();
    begin();
    instance_->brokers_refuse = refuses;
  }
  void judge_commits() {
    ParkedJudge::Parked parked;
    for (const auto& topic : retry_topics()) {
      const auto commit = StoredCommit::read(commits_.at({topic, 0}));
      for (const auto& entry : topics_.log(topic).entries)
        if (entry.offset >= commit.offset && !commit.map.contains(entry.offset))
          parked[std::stoll(header_of(entry, "laneway-retry-offset"))].insert(
              header_of(entry, "laneway-part"));
    }
    judge_.committed(commits_.at({"events", 0}).offset, parked);
    check();
  }
  void check() const {
    if (!judge_.broken().empty()) throw std::runtime_error(judge_.broken() + " (" + plan_.text() + ")");
  }
  /// What is not committed, for people.
  std::string open() {
    std::string text;
    instance_->each_lane([&](const Lane& lane) {
      const auto detail = lane.detail(now_);
      if (!detail.oldest) return;
      text += lane.partition().text(detail.oldest->offset) + " " + detail.oldest->error +
              ", held: " + detail.held_by + "; ";
    });
    return text;
  }
  bool finished() {
    instance_->commit();
    return std::all_of(commits_.begin(), commits_.end(), [&](const auto& commit) {
      return commit.second.offset == topics_.log(commit.first.topic).end();
    });
  }

  const CapturedLog log_;
  RandomPools plan_;
  ParkedJudge judge_;
  TimePoint now_ = SteadyClock::now();
  TimePoint settled_at_ = now_;
  const VirtualClock clock_{now_};
  ParkedTopics topics_;
  ParkingInstance::Commits commits_;
  std::int64_t written_ = 0;
  bool once_ = true;  // nothing has happened after which jobs may run again
  InstantHandler letters_{[this](const handler::Attempt& letter) {
    std::string part;
    for (const auto& header : letter.record.headers())
      if (header.name == "laneway-part") part = header.value.value_or("");
    judge_.letter(letter, part);
    return Outcome::done();
  }};
  std::unique_ptr<PlannedInstance> instance_;  // uses the members above
};

TEST_CASE("every history of lanes that park loses nothing, uses up no attempt and does each job once",
          "[one-thread]") {
  const auto first = from_environment("LANEWAY_FIRST_SEED", 1);
  const auto seeds = from_environment("LANEWAY_SEEDS", 100);
  ParkedHistory::Counts all;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    try {
      const auto counts = ParkedHistory(seed).run();
      all.parked += counts.parked;
      all.too_old += counts.too_old;
    } catch (const std::exception& broken) {
      FAIL_CHECK("seed " << seed << ": " << broken.what());
    }
  }
  CHECK(all.parked > seeds);
  CHECK(all.too_old * 10 > seeds);
}

}  // namespace
}  // namespace laneway::lane
