// The batches that a plugin has and has not answered. The plugin answers from any thread, and perhaps
// wrongly; its answers find their task here.
//
// A batch has a number that is never reused, so an answer that comes twice or too late is refused; a plugin
// is not trusted with pointers. A task goes to the plugin in one batch, unless the task is sequential and
// larger than a batch: then in several batches, one after the other, by the thread that handles the task.
//
// Threads: any. Blocks: run(), while a sequential task has more batches, and as long as submit does.
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

  /// Passes the task to the plugin in batches of at most `most` records. If `submit` throws, the exception is
  /// the answer to every record without an answer.
  void run(Task task, std::uint32_t most, const Submit& submit) noexcept;

  /// Returns false if the record does not exist, was answered before, or must not be handled.
  bool answer(std::uint64_t number, std::uint32_t index, Outcome outcome) EXCLUDES(mutex_);
  /// Answers all records that are not answered yet.
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
