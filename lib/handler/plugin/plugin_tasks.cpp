#include "handler/plugin/plugin_tasks.h"

#include <algorithm>

namespace laneway::handler {
namespace {

// A batch's number consists of its place and the number of earlier batches in that place.
constexpr int place_bits = 24;
constexpr std::uint64_t place_mask = (1ULL << place_bits) - 1;

}  // namespace

/// A place for one task at a time that the plugin has, batch by batch.
class PluginTasks::HeldBatch {
 public:
  explicit HeldBatch(std::uint64_t index) : number_(index) {}

  void put(Task task) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    task_.emplace(std::move(task));
    first_ = 0;
    size_ = task_->size();
  }

  /// Opens the next batch, of up to `most` records. The struct does not change until the next call.
  const laneway_batch& open(std::uint32_t most) EXCLUDES(mutex_);

  /// Called when the plugin's submit has returned. nullopt while records remain to be answered or submitted.
  std::optional<Task> submitted() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    submitting_ = false;
    std::optional<Task> finished;
    close_if_answered(finished);
    return finished;
  }

  /// Waits until the open batch, which is not the last, is closed; returns the task if no other batch
  /// follows.
  std::optional<Task> wait_for_next() EXCLUDES(mutex_);
  bool last() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return last_;
  }

  /// Returns whether the answer is accepted; `finished` is set to the task if this was its last answer.
  bool answer(std::uint64_t number, std::uint32_t index, Outcome outcome, std::optional<Task>& finished)
      EXCLUDES(mutex_);
  void give_up(std::uint64_t number, const Outcome& outcome, std::optional<Task>& finished) EXCLUDES(mutex_);

 private:
  void answer_open(std::uint32_t index, Outcome outcome) REQUIRES(mutex_);
  void close_if_answered(std::optional<Task>& finished) REQUIRES(mutex_);
  void take_task(std::optional<Task>& finished) REQUIRES(mutex_);

  mutable Mutex mutex_;
  Condition closed_;
  std::uint64_t number_ GUARDED_BY(mutex_);  // the number of the open batch, otherwise of the next one
  bool open_ GUARDED_BY(mutex_) = false;
  bool submitting_ GUARDED_BY(mutex_) = false;
  bool cut_ GUARDED_BY(mutex_) = false;   // the records after the batch's last one must not run
  bool last_ GUARDED_BY(mutex_) = false;  // no batch follows
  std::optional<Task> task_ GUARDED_BY(mutex_);
  std::uint32_t size_ GUARDED_BY(mutex_) = 0;
  std::uint32_t first_ GUARDED_BY(mutex_) = 0;       // the index of the batch's first record in the task
  std::uint32_t end_ GUARDED_BY(mutex_) = 0;         // the number of records of the batch to be answered
  std::uint32_t unanswered_ GUARDED_BY(mutex_) = 0;  // the number of these that are not answered
  std::vector<bool> answered_ GUARDED_BY(mutex_);

  // The plugin's view of the records; changed only while no batch is open.
  std::vector<PluginRecord> records_;
  std::vector<const laneway_record*> pointers_;
  laneway_batch batch_{};
};

const laneway_batch& PluginTasks::HeldBatch::open(std::uint32_t most) {
  MutexLock lock(mutex_);
  end_ = unanswered_ = std::min(most, size_ - first_);
  answered_.assign(end_, false);
  records_.resize(end_);
  pointers_.resize(end_);
  for (std::uint32_t i = 0; i < end_; ++i) {
    records_[i].show(task_->attempt(first_ + i));
    pointers_[i] = &records_[i];
  }
  open_ = submitting_ = true;
  cut_ = false;
  last_ = first_ + end_ == size_;
  batch_ = {number_, end_, task_->sequential() ? 1U : 0U, pointers_.data()};
  return batch_;
}

void PluginTasks::HeldBatch::answer_open(std::uint32_t index, Outcome outcome) {
  answered_[index] = true;
  --unanswered_;
  if (outcome.verdict == Verdict::done && records_[index].has_results()) outcome = records_[index].done();
  if (answer_attempt(*task_, first_ + index, records_[index].stop(), std::move(outcome))) return;
  cut_ = true;
  end_ = index + 1;
  unanswered_ = static_cast<std::uint32_t>(std::count(answered_.begin(), answered_.begin() + end_, false));
}

bool PluginTasks::HeldBatch::answer(std::uint64_t number, std::uint32_t index, Outcome outcome,
                                    std::optional<Task>& finished) {
  MutexLock lock(mutex_);
  if (!open_ || number != number_ || index >= end_ || answered_[index]) return false;
  answer_open(index, std::move(outcome));
  close_if_answered(finished);
  return true;
}

void PluginTasks::HeldBatch::give_up(std::uint64_t number, const Outcome& outcome,
                                     std::optional<Task>& finished) {
  MutexLock lock(mutex_);
  if (!open_ || number != number_) return;
  for (std::uint32_t i = 0; i < end_; ++i)
    if (!answered_[i]) answer_open(i, outcome);
  close_if_answered(finished);
}

void PluginTasks::HeldBatch::close_if_answered(std::optional<Task>& finished) {
  if (!open_ || unanswered_ > 0 || submitting_) return;
  open_ = false;
  number_ += 1ULL << place_bits;
  first_ += end_;
  if (!last_) {
    if (cut_ || task_->wanted_back()) size_ = first_;
    closed_.notify_one();
    return;
  }
  take_task(finished);
}

void PluginTasks::HeldBatch::take_task(std::optional<Task>& finished) {
  finished.emplace(std::move(*task_));
  task_.reset();
}

std::optional<Task> PluginTasks::HeldBatch::wait_for_next() {
  MutexLock lock(mutex_);
  while (open_) closed_.wait(mutex_);
  std::optional<Task> finished;
  if (first_ >= size_) take_task(finished);
  return finished;
}

PluginTasks::PluginTasks() = default;
PluginTasks::~PluginTasks() = default;

void PluginTasks::run(Task task, std::uint32_t most, const Submit& submit) noexcept {
  HeldBatch& place = take_place();
  place.put(std::move(task));
  for (;;) {
    const laneway_batch& batch = place.open(most);
    const std::uint64_t number = batch.task;
    const bool last = place.last();
    try {
      submit(batch);
    } catch (...) {
      give_up(number, outcome_of_exception());
    }
    end(place, place.submitted());
    if (last) return;  // the place may already belong to another task
    if (auto finished = place.wait_for_next()) return end(place, std::move(finished));
  }
}

bool PluginTasks::answer(std::uint64_t number, std::uint32_t index, Outcome outcome) {
  HeldBatch* place = find(number);
  std::optional<Task> finished;
  const bool taken = place != nullptr && place->answer(number, index, std::move(outcome), finished);
  if (place != nullptr) end(*place, std::move(finished));
  return taken;
}

void PluginTasks::give_up(std::uint64_t number, const Outcome& outcome) {
  HeldBatch* place = find(number);
  if (place == nullptr) return;
  std::optional<Task> finished;
  place->give_up(number, outcome, finished);
  end(*place, std::move(finished));
}

/// The lane receives the answers when the task is destroyed, after the place is free and no lock is held.
void PluginTasks::end(HeldBatch& place, std::optional<Task> finished) {
  if (!finished) return;
  MutexLock lock(mutex_);
  free_.push_back(&place);
}

PluginTasks::HeldBatch& PluginTasks::take_place() {
  MutexLock lock(mutex_);
  if (free_.empty()) {
    places_.push_back(std::make_unique<HeldBatch>(places_.size()));
    free_.push_back(places_.back().get());
  }
  HeldBatch& place = *free_.back();
  free_.pop_back();
  return place;
}

PluginTasks::HeldBatch* PluginTasks::find(std::uint64_t number) {
  const std::uint64_t index = number & place_mask;
  MutexLock lock(mutex_);
  return index < places_.size() ? places_[index].get() : nullptr;
}

}  // namespace laneway::handler
