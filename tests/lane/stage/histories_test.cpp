// A lane with random pools: routing, stages, sub-jobs that are gathered, retries, a pool of retries, helping,
// limits of the process and of each text, order by key. It lives several lives, which end by a drain (a
// rebalance) or without any notice (a kill), and every rule is checked against a model (random_pools.h).
// LANEWAY_SEEDS=10000 runs more histories, LANEWAY_FIRST_SEED=n begins elsewhere.
#include <map>
#include <optional>
#include <stdexcept>

#include "lane/stage/pooled_lane.h"
#include "lane/stage/random_pools.h"
#include "pool/permits.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

constexpr std::int64_t records = 60;
constexpr std::uint32_t max_incomplete = 20;

/// What has been done to the records, by which a history is judged. The first broken rule is kept.
class Judge {
 public:
  explicit Judge(const RandomPools& plan) : plan_(plan) {
    for (std::int64_t offset = 0; offset < records; ++offset) expected_.push_back(plan.jobs_of(offset));
    complete_.resize(expected_.size());
    running_.resize(plan.pools.size());
  }

  void demand(bool holds, const std::string& rule) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    demand_locked(holds, rule);
  }
  std::string broken() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return broken_;
  }

  /// A new life of the lane, from this commit.
  void begin_life(std::int64_t committed, const CompletionMap& map) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    committed_ = committed;
    map_ = map;
    done_.clear();
    last_of_key_.clear();
    for (auto offset = committed; offset < records; ++offset) in_this_life(offset) = map.contains(offset);
  }
  void committed(std::int64_t offset, const CompletionMap& map) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    demand_locked(offset >= committed_, "a committed offset never falls");
    for (auto below = committed_; below < offset; ++below)
      demand_locked(complete_[index(below)],
                    "record " + std::to_string(below) + " is complete when it is committed");
    for (auto above = offset; above < records; ++above)
      demand_locked(!map.contains(above) || complete_[index(above)],
                    "record " + std::to_string(above) + " of the committed map is complete");
    committed_ = offset;
  }
  /// The lane has taken the records before `next`.
  void taken(std::int64_t next) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    auto oldest = committed_;
    while (oldest < next && in_this_life(oldest)) ++oldest;
    demand_locked(next - oldest <= max_incomplete, "at most max_incomplete records are taken");
  }

  void begins(std::int64_t offset, const Job& job, const std::string& key) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto pool = static_cast<std::size_t>(job.pool);
    demand_locked(++running_[pool] <= most_running(pool),
                  "no more records of a pool run than it has workers");
    demand_locked(!map_.contains(offset) && offset >= committed_, "what is committed does not run again");
    demand_locked(expected_[index(offset)].contains(job) || plan_.fate(offset, job).rejected,
                  "a record comes to the pools of its path only");
    if (!plan_.ordered) return;
    auto& last = last_of_key_[{job.pool, key}];
    demand_locked(!last.running && last.offset <= offset,
                  "records of a key run in their order: " + std::to_string(offset) + " in pool " +
                      std::to_string(job.pool) + " after " + std::to_string(last.offset));
    last = {offset, true};
  }
  void ends(const Job& job, const std::string& key) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    --running_[static_cast<std::size_t>(job.pool)];
    if (plan_.ordered) last_of_key_[{job.pool, key}].running = false;
  }
  void done(std::int64_t offset, const Job& job) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto& expected = expected_[index(offset)];
    demand_locked(expected.contains(job), "only sub-jobs that were rejected are dead-lettered");
    demand_locked(done_[offset].insert(job).second, "no job is done twice without a fault");
    if (done_[offset] == expected) complete_[index(offset)] = in_this_life(offset) = true;
  }

 private:
  static std::size_t index(std::int64_t offset) { return static_cast<std::size_t>(offset); }
  std::vector<bool>::reference in_this_life(std::int64_t offset) REQUIRES(mutex_) {
    complete_in_life_.resize(expected_.size());
    return complete_in_life_[index(offset)];
  }
  void demand_locked(bool holds, const std::string& rule) REQUIRES(mutex_) {
    if (!holds && broken_.empty()) broken_ = rule;
  }
  std::uint32_t most_running(std::size_t pool) const {
    const auto& settings = plan_.pools[pool].settings;
    auto most = settings.workers;
    for (const auto& [other, then] : plan_.pools)
      for (const auto& helped : other.helps)
        if (helped == settings.name) most += other.workers;
    if (settings.total > 0) most = std::min(most, settings.total);
    return most + (settings.total > 0 ? 0 : settings.retry_workers);
  }

  struct Last {
    std::int64_t offset = -1;
    bool running = false;
  };
  const RandomPools& plan_;
  mutable Mutex mutex_;
  std::string broken_ GUARDED_BY(mutex_);
  std::vector<std::set<Job>> expected_;
  std::int64_t committed_ GUARDED_BY(mutex_) = 0;
  CompletionMap map_ GUARDED_BY(mutex_);
  std::vector<bool> complete_ GUARDED_BY(mutex_);          // in any life
  std::vector<bool> complete_in_life_ GUARDED_BY(mutex_);  // or before, by the map
  std::map<std::int64_t, std::set<Job>> done_ GUARDED_BY(mutex_);
  std::vector<std::uint32_t> running_ GUARDED_BY(mutex_);
  std::map<std::pair<int, std::string>, Last> last_of_key_ GUARDED_BY(mutex_);
};

class FatefulHandler final : public handler::RecordHandler {
 public:
  FatefulHandler(const RandomPools& plan, Judge& judge, int pool) : plan_(plan), judge_(judge), pool_(pool) {}
  std::string name() const override { return "fateful"; }
  Duration timeout() const override { return std::chrono::hours(1); }

 private:
  Outcome handle_record(const handler::Attempt& attempt) override {
    const auto offset = attempt.record.offset();
    const Job job{pool_, std::string(attempt.part)};
    const std::string key(attempt.record.key().value_or(""));
    judge_.begins(offset, job, key);
    std::this_thread::yield();
    auto outcome = outcome_of(plan_.fate(offset, job), attempt.number);
    judge_.ends(job, key);
    if (outcome.verdict == handler::Verdict::done) judge_.done(offset, job);
    return outcome;
  }
  static Outcome outcome_of(const Fate& fate, std::uint32_t attempt) {
    if (attempt <= fate.failures) return Outcome::retry("not yet");
    if (fate.rejected) return Outcome::reject("never");
    if (fate.result == Fate::Result::none) return Outcome::done();
    if (fate.result == Fate::Result::one) return result("one");
    handler::Parts parts;
    for (std::uint32_t i = 0; i < fate.parts; ++i)
      parts.push_back({std::to_string(i), {}, "part", {}, i % 2 == 0});
    return Outcome::done(std::move(parts));
  }

  const RandomPools& plan_;
  Judge& judge_;
  const int pool_;
};

/// One lane after the other, on the same partition.
class History {
 public:
  explicit History(std::uint64_t seed)
      : plan_(seed), judge_(plan_), letters_([this](const handler::Attempt& letter) {
          judge_.done(letter.record.offset(), {-1, part_of(letter.record)});
          return Outcome::done();
        }) {
    test_.context.forward = &letters_;
    test_.context.lanes.max_incomplete = max_incomplete;
    if (plan_.chance(3)) test_.context.memory.lane_bytes = 1 + plan_.below(10 * record_overhead);
    if (plan_.ordered) test_.context.lanes.order = config::Order::key;
    for (std::size_t i = 0; i < plan_.pools.size(); ++i) add_pool(i);
    test_.route.by = {config::Selector::Kind::key, ""};
    for (const auto entry : plan_.entries)
      test_.route.rows.push_back({std::to_string(entry) + "-", true, std::to_string(entry)});
    test_.route.otherwise = std::to_string(plan_.entries.front());
    for (std::int64_t offset = 0; offset < records; ++offset)
      test_.partition.add(offset, RandomPools::key(plan_.entry_of(offset), plan_.below(3)));
    begin();
  }

  void run() {
    const auto deadline = Deadline::in(patience);
    while (committed_ < records) {
      step();
      const auto broken = judge_.broken();
      if (!broken.empty()) throw std::runtime_error(broken + " (" + plan_.text() + ")");
      if (deadline.passed())
        throw std::runtime_error("all is done in the end, and not " + std::to_string(committed_) + " (" +
                                 plan_.text() + ")");
      std::this_thread::yield();
    }
  }

 private:
  static std::string part_of(const handler::Content& letter) {
    for (const auto& header : letter.headers())
      if (header.name == "laneway-part") return std::string(header.value.value_or(""));
    return {};
  }

  void add_pool(std::size_t place) {
    const auto& [settings, then] = plan_.pools[place];
    handlers_.push_back(std::make_unique<FatefulHandler>(plan_, judge_, static_cast<int>(place)));
    auto& pool = test_.add_pool(settings.name, *handlers_.back());
    pool.settings = settings;
    pool.then = then;
    if (settings.total > 0)
      pool.permits = permits_.emplace_back(std::make_unique<pool::Permits>(settings.total)).get();
    if (!settings.each.by.enabled()) return;
    each_.push_back(std::make_unique<KeyedLimits>(settings.name, DownstreamRules{.breaker = {.failures = 0}},
                                                  settings.each));
    pool.each = each_.back().get();
  }

  void begin() {
    const auto start = StoredCommit::read({{}, committed_, metadata_});
    if (!start.map_error.empty()) throw std::runtime_error("what was committed can be read");
    judge_.begin_life(committed_, start.map);
    test_.partition.go_to(committed_);
    test_.partition.paused = false;
    test_.begin(committed_, metadata_);
  }

  void step() {
    const auto choice = plan_.below(100);
    if (choice < 10) {
      test_.pass(milliseconds(plan_.below(200)));
    } else if (choice < 20) {
      commit();
    } else if (choice == 20 && lives_left_ > 0) {
      end_life(plan_.chance(2));
    } else {
      test_.lane->work(test_.now);
    }
    if (const auto next = test_.partition.next; next > 0)
      judge_.taken(test_.partition.log[next - 1].offset + 1);
  }

  void commit() {
    const auto candidate = test_.lane->commit_candidate();
    if (!candidate) return;
    const auto commit = StoredCommit::read(*candidate);
    judge_.demand(commit.map_error.empty(), "a committed map can be read");
    judge_.committed(candidate->offset, commit.map);
    committed_ = candidate->offset;
    metadata_ = candidate->metadata;
    test_.lane->committed(*candidate);
  }

  /// By a drain, as in a rebalance, or without one, as in a kill.
  void end_life(bool drains) {
    --lives_left_;
    if (drains) {
      test_.context.lanes.drain_queued =
          plan_.chance(2) ? config::DrainQueued::give_back : config::DrainQueued::finish;
      test_.lane->begin_drain(test_.now, test_.now + seconds(60));
      judge_.demand(test_.until_drained(), "a drain ends");
      commit();
    }
    test_.lane.reset();
    begin();
  }

  CapturedLog log_;
  RandomPools plan_;
  Judge judge_;
  ScriptedHandler letters_;
  std::vector<std::unique_ptr<FatefulHandler>> handlers_;
  std::vector<std::unique_ptr<pool::Permits>> permits_;
  std::vector<std::unique_ptr<KeyedLimits>> each_;
  PooledLane test_;  // its threads use the members above
  std::int64_t committed_ = 0;
  std::string metadata_;
  int lives_left_ = 3;
};

/// One pool with two workers and an order by key, and the judge of its histories.
struct Planted {
  static RandomPools one_pool() {
    RandomPools plan(1);
    plan.ordered = true;
    plan.entries = {0};
    plan.pools.assign(1, {});
    plan.pools[0].settings.workers = 2;
    return plan;
  }
  Planted() { judge.begin_life(0, {}); }
  Job whole(std::int64_t offset) const { return *plan.jobs_of(offset).begin(); }
  void run(std::int64_t offset) {
    judge.begins(offset, {0, ""}, "k");
    judge.ends({0, ""}, "k");
    judge.done(offset, whole(offset));
  }

  RandomPools plan = one_pool();
  Judge judge{plan};
};

TEST_CASE("the judge of the histories notices each violation") {
  Planted test;
  const auto broken = [&] { return test.judge.broken(); };
  test.run(0);
  test.run(1);
  test.judge.committed(2, {});
  REQUIRE(broken().empty());
  SECTION("an unfinished record is committed") {
    test.judge.committed(3, {});
    CHECK(broken() == "record 2 is complete when it is committed");
  }
  SECTION("a commit goes back") {
    test.judge.committed(1, {});
    CHECK(broken() == "a committed offset never falls");
  }
  SECTION("a map lists an unfinished record") {
    test.judge.committed(2, {.base = 2, .runs = {{5, 6}}});
    CHECK(broken() == "record 5 of the committed map is complete");
  }
  SECTION("a finished record runs again") {
    test.judge.begins(1, {0, ""}, "k");
    CHECK(broken() == "what is committed does not run again");
  }
  SECTION("a job is done twice") {
    test.run(2);
    test.judge.done(2, test.whole(2));
    CHECK(broken() == "no job is done twice without a fault");
  }
  SECTION("a record runs in a pool off its path") {
    test.judge.begins(2, {0, "0/1"}, "k");
    CHECK(broken() == "a record comes to the pools of its path only");
  }
  SECTION("two records of a key run at the same time") {
    test.judge.begins(2, {0, ""}, "k");
    test.judge.begins(3, {0, ""}, "k");
    CHECK(broken().starts_with("records of a key run in their order"));
  }
  SECTION("the records of a key run in another order") {
    test.run(3);
    test.judge.begins(2, {0, ""}, "k");
    CHECK(broken().starts_with("records of a key run in their order"));
  }
  SECTION("more records run than there are workers") {
    for (const auto* key : {"k", "l", "m"}) test.judge.begins(2, {0, ""}, key);
    CHECK(broken() == "no more records of a pool run than it has workers");
  }
  SECTION("too many records are taken") {
    test.judge.taken(2 + max_incomplete + 1);
    CHECK(broken() == "at most max_incomplete records are taken");
  }
}

TEST_CASE("every history of a lane with pools keeps bounds, order and commits, and all records are done") {
  const auto first = from_environment("LANEWAY_FIRST_SEED", 1);
  const auto seeds = from_environment("LANEWAY_SEEDS", 100);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    try {
      History(seed).run();
    } catch (const std::exception& broken) {
      FAIL("seed " << seed << ": " << broken.what());
    }
  }
  SUCCEED(seeds << " seeds");
}

}  // namespace
}  // namespace laneway::lane
