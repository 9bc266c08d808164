#include "stories/work.h"

#include "handler/outcome.h"
#include "stories/copies.h"

namespace laneway::stories {

using handler::Outcome;

Outcome Downstream::call(const std::string& member, const handler::Attempt& attempt) {
  if (tap_.abandoned(member)) return Outcome::retry("abandoned");
  const auto& record = attempt.record;
  const Facts::Place origin{{std::string(record.topic()), record.partition()}, record.offset()};
  const std::string key(record.key().value_or(""));
  const auto value = record.value().value_or("");
  const auto id = id_of(value).value_or(Id{-1, -1});
  auto& facts = tap_.facts();
  const auto once = [&] {
    const auto place = facts.begins(member, origin, key, value, copy_in(record));
    auto outcome = planted(answer(member, attempt, id), id);
    const bool done = outcome.verdict == handler::Verdict::done && !tap_.abandoned(member);
    facts.ends(member, place, key, value, done);
    return outcome;
  };
  auto outcome = once();
  if (tap_.bug() == Bug::runs_a_finished_record_again && outcome.verdict == handler::Verdict::done &&
      id.second % 50 == 7)
    outcome = once();
  return outcome;
}

Outcome Downstream::stop(const std::string& member) {
  MutexLock lock(mutex_);
  ++stopped_[member];
  return Outcome::retry("stopped");
}

bool Downstream::first_call(Id id) {
  MutexLock lock(mutex_);
  return called_.insert(id).second;
}

bool Downstream::hang(const handler::Attempt& attempt) {
  ++held_calls_;
  bool stopped = false;
  while (!stopped && mood_ == Mood::hangs) stopped = !sleep(attempt, milliseconds(5));
  --held_calls_;
  return !stopped;
}

Outcome Downstream::answer(const std::string& member, const handler::Attempt& attempt, Id id) {
  if (attempt.stop.stop_requested()) return stop(member);
  const int key = key_;
  const bool concerned = key == all_keys || attempt.record.key() == std::to_string(key);
  const auto mood = concerned ? mood_.load() : Mood::work;
  if (mood == Mood::answers_503) return Outcome::unavailable("HTTP 503");
  if (mood == Mood::answers_500) return Outcome::retry("HTTP 500");
  if (mood == Mood::hangs && !hang(attempt)) return stop(member);
  if (is_poison(id, story_.poison))
    return story_.rejects ? Outcome::reject("HTTP 422") : Outcome::retry("HTTP 500");
  const bool hangs = is_poison({id.first + 77, id.second}, story_.hanging) && first_call(id);
  if (hangs) {
    ++hanging_;
    const bool slept = sleep(attempt, std::chrono::hours(1));
    --hanging_;
    if (!slept) return stop(member);
  }
  while (tap_.bug() == Bug::hanging_takes_neighbours_along && hanging_ > 0)
    if (!sleep(attempt, milliseconds(5))) return Outcome::retry("stopped");
  if (story_.work_ms > 0 && !sleep(attempt, milliseconds(story_.work_ms))) return stop(member);
  if (mood == Mood::slow && !sleep(attempt, milliseconds(40))) return stop(member);
  return Outcome::done();
}

Outcome Downstream::planted(Outcome outcome, Id id) const {
  using handler::Verdict;
  const bool poison = is_poison(id, story_.poison);
  switch (tap_.bug()) {
    case Bug::poison_is_an_outage:
      return poison && outcome.verdict == Verdict::retry ? Outcome::unavailable("HTTP 500") : outcome;
    case Bug::an_outage_is_poison:
      return outcome.verdict == Verdict::unavailable ? Outcome::reject("HTTP 503") : outcome;
    case Bug::rejected_counts_as_done:
      return outcome.verdict == Verdict::reject ? Outcome::done() : outcome;
    default:
      return outcome;
  }
}

AsynchronousHandler::AsynchronousHandler(Downstream& downstream, std::string member, std::uint32_t threads)
    : downstream_(downstream), member_(std::move(member)) {
  for (std::uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

AsynchronousHandler::~AsynchronousHandler() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void AsynchronousHandler::handle(handler::Task task) noexcept {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::make_unique<handler::Task>(std::move(task)));
  }
  changed_.notify_one();
}

void AsynchronousHandler::run() {
  for (;;) {
    std::unique_ptr<handler::Task> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    for (std::uint32_t i = 0; i < task->size(); ++i) {
      const auto attempt = task->attempt(i);
      if (!handler::answer_attempt(*task, i, attempt.stop, downstream_.call(member_, attempt))) break;
    }
  }
}

}  // namespace laneway::stories
