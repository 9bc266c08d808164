// Random pools for the histories of a lane (histories_test.cpp), what becomes of each job in them, and, by a
// model of its own, the jobs after which a record is complete. One seed is one plan. Pure.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/pools.h"

namespace laneway::lane {

/// A record, or a sub-job of it (its path, "a/b" for a part of a part), in a pool.
struct Job {
  int pool = 0;  ///< its place; -1: the dead-letter topic
  std::string path;
  auto operator<=>(const Job&) const = default;
};

/// What becomes of a job.
struct Fate {
  std::uint32_t failures = 0;  ///< before it succeeds or is rejected
  bool rejected = false;
  enum class Result : std::uint8_t { none, one, parts } result = Result::none;
  std::uint32_t parts = 0;
};

class RandomPools {
 public:
  explicit RandomPools(std::uint64_t seed) : seed_(seed), random_(seed) {
    ordered = chance(3);
    pools.resize(1 + below(4));
    for (std::size_t i = 0; i < pools.size(); ++i) choose(i);
    for (std::size_t i = 0; i < pools.size(); ++i)
      if (is_stage(i)) choose_stage(i);
    for (std::size_t i = 0; i < pools.size(); ++i)
      if (!is_stage(i) || (!pools[i].settings.gather && chance(4))) entries.push_back(i);
  }

  struct Pool {
    config::PoolSettings settings;
    int then = -1;
  };

  /// Key of the records that go to this entry.
  static std::string key(std::size_t pool, std::uint64_t number) {
    return std::to_string(pool) + "-" + std::to_string(number % 3);
  }
  std::size_t entry_of(std::int64_t offset) const {
    return entries[draw("entry", offset, {}) % entries.size()];
  }
  Fate fate(std::int64_t offset, const Job& job) const {
    const auto draw = this->draw("fate", offset, job);
    Fate fate;
    if (draw % 5 == 0) fate.failures = 1 + draw / 5 % 2;
    fate.rejected = draw / 16 % 10 == 0;
    const auto result = draw / 512 % 4;
    if (result == 1) fate.result = Fate::Result::one;
    if (result > 1) fate.result = Fate::Result::parts;
    fate.parts = static_cast<std::uint32_t>(draw / 4096 % 4);
    return fate;
  }
  /// The jobs after which the record is complete.
  std::set<Job> jobs_of(std::int64_t offset) const {
    std::set<Job> jobs;
    visit(offset, {static_cast<int>(entry_of(offset)), {}}, {}, jobs);
    return jobs;
  }
  /// "0: 2 workers → 1, helps …; 1: …", for a history that broke a rule.
  std::string text() const {
    std::string text = ordered ? "in order by key" : "without order";
    for (const auto& [pool, then] : pools) {
      text += "; " + pool.name + ": " + std::to_string(pool.workers) + " workers";
      if (then != nobody) text += " → " + std::to_string(then);
      if (pool.gather) text += ", gathers";
      for (const auto& helped : pool.helps) text += ", helps " + helped;
      if (pool.total > 0) text += ", total " + std::to_string(pool.total);
      if (pool.retry_workers > 0) text += ", retry_workers";
      if (pool.each.by.enabled()) text += ", each";
    }
    for (const auto entry : entries) text += "; entry " + std::to_string(entry);
    return text;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

  std::vector<Pool> pools;
  std::vector<std::size_t> entries;
  bool ordered = false;  // by key

 private:
  static constexpr int nobody = -1;

  void choose(std::size_t place) {
    auto& [pool, then] = pools[place];
    pool.name = std::to_string(place);
    pool.workers = static_cast<std::uint32_t>(1 + below(3));
    pool.queue = static_cast<std::uint32_t>(1 + below(4));
    if (chance(4)) pool.total = pool.workers;
    if (place + 1 < pools.size() && !chance(3))
      then = static_cast<int>(place + 1 + below(pools.size() - place - 1));
    if (place > 0 && chance(3)) pool.helps.push_back(std::to_string(below(place)));
    if (ordered) return;
    if (chance(3)) pool.retry_workers = 1;
    if (!chance(4)) return;
    pool.each.by.kind = config::Selector::Kind::key;
    pool.each.workers = static_cast<std::uint32_t>(1 + below(2));
  }
  void choose_stage(std::size_t place) {
    auto& pool = pools[place].settings;
    pool.gather = chance(2);
    if (pool.each.by.enabled() && chance(2)) pool.each.by.kind = config::Selector::Kind::part;
  }
  bool is_stage(std::size_t place) const {
    return std::any_of(pools.begin(), pools.end(),
                       [&](const Pool& pool) { return pool.then == static_cast<int>(place); });
  }
  const Pool& at(int place) const { return pools[static_cast<std::size_t>(place)]; }

  std::uint64_t draw(const char* what, std::int64_t offset, const Job& job) const {
    const auto text = what + std::to_string(seed_) + "/" + std::to_string(offset) + "/" +
                      std::to_string(job.pool) + "/" + job.path;
    return std::mt19937_64(std::hash<std::string>()(text))();
  }

  /// The pool that gets the results of what this pool splits: the first one after the next that gathers.
  int gatherer_of(int pool) const {
    for (int next = at(pool).then; next != nobody && at(next).then != nobody; next = at(next).then)
      if (at(at(next).then).settings.gather) return at(next).then;
    return nobody;
  }
  struct Split {
    int gatherer = nobody;  ///< of the sub-job's siblings
    int gathered = 0;       ///< how often sub-jobs of the record were gathered before
  };
  static std::string path_of_parts(const Job& job, int gathered) {
    if (!job.path.empty()) return job.path + "/";
    std::string path;
    for (int i = 0; i < gathered; ++i) path += "gathered/";
    return path;
  }
  void visit(std::int64_t offset, const Job& job, Split split, std::set<Job>& jobs) const {
    jobs.insert(job);
    const auto fate = this->fate(offset, job);
    if (fate.rejected) {
      jobs.erase(job);
      jobs.insert({nobody, job.path});
      return;
    }
    const int next = at(job.pool).then;
    if (next == nobody || (at(next).settings.gather && split.gatherer == next)) return;
    if (at(next).settings.gather) {
      ++split.gathered;
      return visit(offset, {next, job.path}, split, jobs);
    }
    if (fate.result != Fate::Result::parts) return visit(offset, {next, job.path}, split, jobs);
    const int of_parts = gatherer_of(job.pool);
    const auto path = path_of_parts(job, split.gathered);
    for (std::uint32_t i = 0; i < fate.parts; ++i)
      visit(offset, {next, path + std::to_string(i)}, {of_parts, split.gathered}, jobs);
    // Sub-jobs of a sub-job are gathered with its siblings.
    if (fate.parts > 0 && of_parts != nobody && of_parts != split.gatherer)
      visit(offset, {of_parts, job.path}, {split.gatherer, split.gathered + 1}, jobs);
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
};

/// The seeds that a test is to try.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace laneway::lane
