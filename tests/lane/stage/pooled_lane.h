// A lane with named pools, for tests: each record's key names its pool.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lane/support.h"

namespace laneway::lane {

/// Answers each attempt at once, as the test decides, and remembers the attempts.
class ScriptedHandler final : public handler::RecordHandler {
 public:
  struct Seen {
    std::int64_t offset;
    std::string part;
    std::string value;
    std::uint32_t attempt;
    std::vector<std::pair<std::string, std::string>> headers;
  };
  using Script = std::function<handler::Outcome(const handler::Attempt&)>;

  explicit ScriptedHandler(Script script = [](const auto&) { return handler::Outcome::done(); })
      : script_(std::move(script)) {}
  std::string name() const override { return "scripted"; }
  /// The time of a test passes faster than that of the workers.
  Duration timeout() const override { return std::chrono::hours(24 * 365); }

  std::vector<Seen> seen() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return seen_;
  }
  Offsets offsets() const {
    Offsets offsets;
    for (const auto& seen : this->seen()) offsets.push_back(seen.offset);
    return offsets;
  }
  std::vector<std::string> parts() const {
    std::vector<std::string> parts;
    for (const auto& seen : this->seen()) parts.push_back(seen.part);
    std::sort(parts.begin(), parts.end());
    return parts;
  }
  std::vector<std::string> values() const {
    std::vector<std::string> values;
    for (const auto& seen : this->seen()) values.push_back(seen.value);
    return values;
  }
  std::size_t count() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return seen_.size();
  }

 private:
  handler::Outcome handle_record(const handler::Attempt& attempt) override EXCLUDES(mutex_) {
    Seen seen{attempt.record.offset(),
              std::string(attempt.part),
              std::string(attempt.record.value().value_or("(null)")),
              attempt.number,
              {}};
    for (const auto& header : attempt.record.headers())
      seen.headers.emplace_back(header.name, header.value.value_or("(null)"));
    {
      MutexLock lock(mutex_);
      seen_.push_back(std::move(seen));
    }
    return script_(attempt);
  }

  const Script script_;
  mutable Mutex mutex_;
  std::vector<Seen> seen_ GUARDED_BY(mutex_);
};

/// Results with these ids; the value is that of the id.
inline handler::Outcome results(const std::vector<std::string>& ids) {
  handler::Parts parts;
  for (const auto& id : ids) parts.push_back({id, {}, "value of " + id, {}});
  return handler::Outcome::done(std::move(parts));
}
inline handler::Outcome result(std::string value) {
  return handler::Outcome::done(handler::Parts{{"", {}, std::move(value), {}}});
}

/// Add the pools and the partition's records, then begin().
struct PooledLane : TestLane {
  PooledLane() { context.stages.clear(); }
  ~PooledLane() { lane.reset(); }

  StageContext& add_pool(const std::string& name, handler::Handler& work, std::uint32_t workers = 2,
                         std::uint32_t queue = 2) {
    auto& pool = context.stages.emplace_back();
    pool.settings.name = name;
    pool.settings.workers = workers;
    pool.settings.queue = queue;
    pool.handler = &work;
    pool.downstream = &no_breaker;
    return pool;
  }
  /// Each pool leads to the one that was added after it.
  void in_a_chain() {
    for (std::size_t i = 0; i + 1 < context.stages.size(); ++i)
      context.stages[i].then = static_cast<int>(i + 1);
  }
  void route_by_key() {
    route.by = {config::Selector::Kind::key, ""};
    for (const auto& pool : context.stages)
      route.rows.push_back({pool.settings.name, false, pool.settings.name});
    route.otherwise = context.stages.front().settings.name;
  }
  void begin(std::int64_t offset = 0, std::string metadata = {}) {
    std::vector<std::string> names;
    for (const auto& pool : context.stages) names.push_back(pool.settings.name);
    router = std::make_unique<Router>(route, names);
    context.router = router.get();
    TestLane::begin(offset, std::move(metadata));
  }
  /// Everything that was taken is finished, and would be committed.
  bool until_committed(std::int64_t offset) {
    return until(
        [&] { return committed_ == offset || (committed_ = std::max(committed_, commit())) == offset; });
  }

  config::RouteSettings route;
  std::unique_ptr<Router> router;

 private:
  std::int64_t committed_ = -1;
};

/// A lane that gives up records after two attempts; `letters` stands for the dead-letter topic.
struct LettersLane : PooledLane {
  LettersLane() {
    context.forward = &letters;
    context.retry.attempts = 2;
  }
  ~LettersLane() { lane.reset(); }
  ScriptedHandler letters;
};

}  // namespace laneway::lane
