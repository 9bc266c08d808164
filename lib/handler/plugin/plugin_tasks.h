// The batches that are with a plugin: what it answers, from any thread and perhaps wrongly, finds its task
// here.
//
// A batch has a number that is never used again, so an answer that comes twice or too late meets nobody and
// is refused; a plugin is not trusted with pointers. A task goes to the plugin in one batch, unless it is
// sequential and larger: then in several, one after the other, by the thread that handles it.
//
// Threads: any. Blocks: run(), while a sequential task has more batches to go, and as long as submit does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "handler/handler.h"
#include "handler/plugin/plugin_record.h"
#include "laneway/plugin.h"

namespace laneway::handler {

class PluginTasks {
 public:
  using Submit = std::function<void(const laneway_batch&)>;

  PluginTasks();
  ~PluginTasks();

  /// Passes the task on in batches of at most `most` records. What `submit` throws is the answer to every
  /// record that has none.
  void run(Task task, std::uint32_t most, const Submit& submit) noexcept;

  /// False when there is no such record, or it was answered, or it was not to be handled.
  bool answer(std::uint64_t number, std::uint32_t index, Outcome outcome) EXCLUDES(mutex_);
  /// Answers what is not answered yet.
  void give_up(std::uint64_t number, const Outcome& outcome) EXCLUDES(mutex_);

 private:
  class HeldBatch;

  HeldBatch& take_place() EXCLUDES(mutex_);
  HeldBatch* find(std::uint64_t number) EXCLUDES(mutex_);
  void end(HeldBatch& place, std::optional<Task> finished) EXCLUDES(mutex_);

  Mutex mutex_;
  std::vector<std::unique_ptr<HeldBatch>> places_ GUARDED_BY(mutex_);
  std::vector<HeldBatch*> free_ GUARDED_BY(mutex_);
};

}  // namespace laneway::handler
