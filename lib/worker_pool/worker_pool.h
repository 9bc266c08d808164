// What is behind laneway::WorkerPool: its cores, its timekeeper, and what it knows of its end.
//
// Ownership: the WorkerPool. Threads: any may call everything.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "laneway/pool.hpp"
#include "worker_pool/core.h"

namespace laneway {

struct WorkerPool::Implementation {
  explicit Implementation(PoolOptions given);
  ~Implementation();
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  worker_pool::Core& core_for(const JobOptions* options);
  std::uint64_t unfinished() const;
  StopReport stop(std::chrono::nanoseconds drain, std::chrono::nanoseconds cancel) EXCLUDES(stop_mutex);
  bool wait_unfinished(std::int64_t until);
  void give_up(StopReport& report, std::int64_t until);
  std::string text_of(const StopReport& report) const;
  /// Whether the calling thread is a worker of this pool.
  bool is_own_worker() const;

  const PoolOptions options;
  std::vector<std::unique_ptr<worker_pool::Core>> cores;
  worker_pool::Timekeeper timekeeper;  // after the cores: it ends before they do
  std::atomic<std::uint64_t> turn{0};
  std::atomic<bool> closed{false}, paused{false}, stopping{false}, stopped{false};
  std::atomic<std::thread::id> stopper{};  ///< the thread that is in stop()
  Mutex stop_mutex;
  std::optional<StopReport> report GUARDED_BY(stop_mutex);
};

}  // namespace laneway
