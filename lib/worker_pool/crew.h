// The threads of a pool: started when there is work for them, woken when that pays, parked, and ended after
// idling. What they do is the business of their Shift.
//
// A thread is counted before it is started, so there are never more than `most`. One thread at a time
// searches on behalf of new work; when it finds work and more is left, it wakes the next one. While jobs are
// short (Tempo::fast), a submitter does not wake a worker for each job: then one parked worker watches, that
// is, it looks once a millisecond whether the others make progress. It gives up watching when nothing happens
// for a while, and then a submitter wakes a worker for its job again. A worker that claims several jobs
// while nobody watches makes a parked or a new thread the watcher.
//
// Threads: any may call call_if_needed and presence; the destructor and end() join the threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "worker_pool/presence.h"
#include "worker_pool/worker.h"

namespace laneway::worker_pool {

/// The work of a crew's threads.
class Shift {
 public:
  /// Whether there is work that nobody has claimed. May be true too often.
  virtual bool has_work() const = 0;
  /// Asked by the watcher once a millisecond: whether the others do not get on.
  virtual bool needs_help() = 0;
  /// Whether somebody works, so that watching may begin.
  virtual bool watchable() const = 0;
  /// Whether there was anything to watch at the last needs_help(): work was claimed since the one before, or
  /// waits, or a claim has jobs that have not begun.
  virtual bool watched_something() const = 0;
  /// Whether a parked worker should watch at all.
  virtual bool wants_watcher() const = 0;
  /// Works as long as there is work. The worker is counted as searching when this is called and when it
  /// returns.
  virtual void work(Worker& worker) = 0;

 protected:
  ~Shift() = default;
};

class Crew {
 public:
  struct Limits {
    std::uint32_t least = 0;
    std::uint32_t most = 1;
    Duration idle{};
    std::uint32_t first = 0;  ///< the number of the first thread, for its name
  };

  Crew(Limits limits, std::string name, Shift& shift);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts the threads that are kept. Throws std::system_error if the system refuses one.
  void start_least();
  /// Wakes or starts one thread if none searches. Returns false if there is no thread and none can be
  /// started.
  bool call_one() EXCLUDES(mutex_);
  /// Makes a parked or a new thread the watcher if there is none and no thread searches.
  void call_watcher() EXCLUDES(mutex_);
  Presence presence() const { return {presence_.load(std::memory_order_seq_cst)}; }
  void begin_search() { presence_.fetch_add(Presence::searching, std::memory_order_seq_cst); }
  /// Returns whether nobody searches any more.
  bool end_search() {
    return Presence{presence_.fetch_sub(Presence::searching, std::memory_order_seq_cst)}.searchers() == 1;
  }
  /// All threads end when they find no work. Waits for them.
  void end() EXCLUDES(mutex_);

  std::uint32_t most() const { return limits_.most; }
  std::vector<std::unique_ptr<Worker>>& workers() { return workers_; }
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  std::uint64_t start_failures() const { return start_failures_.load(std::memory_order_relaxed); }
  /// Whether the system refused the thread that was last wanted.
  bool start_failed() const { return start_failed_.load(std::memory_order_relaxed); }
  /// Whether the calling thread is one of this crew's.
  bool is_mine() const;

 private:
  void run(Worker& worker, std::uint32_t number);
  bool park(Worker& worker) EXCLUDES(mutex_);
  bool sleep(Worker& worker) REQUIRES(mutex_);
  bool tick(Worker& worker, std::uint32_t& quiet) REQUIRES(mutex_);
  bool leave(Worker& worker) REQUIRES(mutex_);
  void get_up(Worker& worker, std::uint64_t change) REQUIRES(mutex_);
  bool start(std::uint64_t as) REQUIRES(mutex_);
  void watch(Worker& worker) REQUIRES(mutex_);
  bool watch_first(Worker& worker) EXCLUDES(mutex_);
  void appoint(Worker& worker) REQUIRES(mutex_);

  const Limits limits_;
  const std::string name_;
  Shift& shift_;
  std::atomic<bool> start_failed_{false};
  alignas(64) std::atomic<std::uint64_t> presence_{0};
  alignas(64) Mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> parked_ GUARDED_BY(mutex_);  ///< the last one is woken first; without the watcher
  Worker* watcher_ GUARDED_BY(mutex_) = nullptr;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread left_ GUARDED_BY(mutex_);  ///< the last that left; it joins the one before it
  std::atomic<std::uint64_t> start_failures_{0};
};

}  // namespace laneway::worker_pool
