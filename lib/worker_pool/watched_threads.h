// The threads of the library's pool: started when there is work for them, woken when that pays, parked, and
// ended after idling. What they do is the business of their ThreadWork.
//
// There are never more than `most` threads. One thread at a time searches on behalf of new work; when it
// finds work and more is left, it wakes the next one. While jobs are short, a submitter does not wake a
// worker for each job: then one parked worker watches, that is, it looks once a millisecond whether the
// others make progress. It gives up watching when nothing happens for a while, and then a submitter wakes a
// worker for its job again. A worker that claims several jobs while nobody watches makes a parked or a new
// thread the watcher.
//
// Threads: any may call everything; the destructor and end() join the threads.
#pragma once

#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "worker_pool/threads.h"

namespace laneway::worker_pool {

/// The work of a pool's threads.
class ThreadWork {
 public:
  /// Whether there is work that nobody has claimed. May be true too often.
  virtual bool has_work() const = 0;
  /// True if the other workers make no progress. Asked by the watcher once a millisecond.
  virtual bool needs_help() = 0;
  /// Whether there was anything to watch at the last needs_help(): work was claimed since the one before, or
  /// waits, or a claim has jobs that have not begun.
  virtual bool watched_something() const = 0;
  /// Whether a claim has jobs that have not begun.
  virtual bool has_unbegun_claim() const = 0;
  /// Whether a parked worker should watch: somebody works.
  virtual bool wants_watcher() const = 0;
  /// Works as long as there is work. The thread is counted as searching when this is called and when it
  /// returns.
  virtual void work(std::uint32_t thread) = 0;

 protected:
  ~ThreadWork() = default;
};

class WatchedThreads {
 public:
  struct Limits {
    std::uint32_t least = 0;
    std::uint32_t most = 1;
    Duration idle{};
    std::uint32_t first = 0;  ///< the number of the first thread, for its name
  };

  WatchedThreads(Limits limits, std::string name, ThreadWork& work);
  ~WatchedThreads() { end(); }
  WatchedThreads(const WatchedThreads&) = delete;
  WatchedThreads& operator=(const WatchedThreads&) = delete;

  /// Starts the threads that are kept. Throws std::system_error if the system refuses one.
  void start_least() EXCLUDES(mutex_);
  /// Wakes or starts one thread if none searches. Returns false if there is no thread and none can be
  /// started.
  bool call_one() EXCLUDES(mutex_);
  /// Makes a parked or a new thread the watcher if there is none and no thread searches.
  void call_watcher() EXCLUDES(mutex_);
  void begin_search() { state_.word += ThreadCounts::searching; }
  /// Returns whether nobody searches any more.
  bool end_search() { return ThreadCounts{state_.word.fetch_sub(ThreadCounts::searching)}.searchers() == 1; }
  /// All threads end when they find no work. Waits for them.
  void end() EXCLUDES(mutex_);

  ThreadCounts counts() const { return state_.counts(); }
  const ThreadState& state() const { return state_; }
  std::uint32_t most() const { return limits_.most; }
  /// Whether the calling thread is one of these.
  bool is_mine() const;

 private:
  void run(Thread& thread);
  bool park(Thread& self) EXCLUDES(mutex_);
  bool sleep(Thread& self) REQUIRES(mutex_);
  bool tick(Thread& self, std::uint32_t& quiet) REQUIRES(mutex_);
  bool leave(Thread& self) REQUIRES(mutex_);
  Thread* start(std::uint64_t as) REQUIRES(mutex_);
  void begin_watch(Thread& thread) REQUIRES(mutex_);
  void end_watch(const Thread& thread) REQUIRES(mutex_);
  bool watch_first(Thread& self) EXCLUDES(mutex_);

  const Limits limits_;
  const std::string name_;
  ThreadWork& work_;
  ThreadState state_;
  alignas(64) Mutex mutex_;
  Condition all_left_;
  Threads threads_ GUARDED_BY(mutex_);
  Thread* watcher_ GUARDED_BY(mutex_) = nullptr;  ///< a parked thread
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace laneway::worker_pool
