// What this process or machine has run out of, in words that name the limit: a fault of neither the record
// nor the other side.
//
// Threads: any. Does not block.
#pragma once

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"

namespace laneway {

/// How many files, sockets and pipes the process may have open at a time, now; RLIM_INFINITY for no limit.
inline rlim_t open_files_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

namespace shortage {
inline std::atomic<rlim_t>& inherited() {
  static std::atomic<rlim_t> limit{RLIM_INFINITY};
  return limit;
}
}  // namespace shortage

/// From now on as many files may be open as the hard limit allows. Soft limits are low for the sake of
/// programs that use select(2), and this one does not. Once, at the start.
inline void raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) shortage::inherited().store(before);
}
/// The soft limit before that, for the programs that we start; nothing when it was not raised.
inline std::optional<rlim_t> inherited_open_files_limit() {
  const rlim_t limit = shortage::inherited().load();
  return limit == RLIM_INFINITY ? std::nullopt : std::optional(limit);
}

/// Of an errno. Nothing for an error that is no shortage. EAGAIN means threads and processes: where it means
/// "later" it must not be given in.
inline std::optional<std::string> shortage_of(int error) {
  switch (error) {
    case EMFILE:
      return "this process has as many open files as it may have, " + std::to_string(open_files_limit()) +
             ": raise the limit (ulimit -n; LimitNOFILE= in a systemd unit)";
    case ENFILE:
      return "this machine has as many open files as it may have: raise the limit (sysctl fs.file-max)";
    case EAGAIN:
      return "the system allows no further thread or process: raise the limit (ulimit -u; TasksMax= in a "
             "systemd unit, pids.max of a container), or that on memory (ulimit -v)";
    case ENOMEM:
    case ENOBUFS:
      return "no memory is left: raise the limit (ulimit -v; MemoryMax= in a systemd unit)";
    default:
      return std::nullopt;
  }
}

/// Whether another file can be opened now; else why not. For failures of libraries that keep the errno to
/// themselves.
inline std::optional<std::string> shortage_of_files() {
  const Descriptor another(::eventfd(0, EFD_CLOEXEC));
  return another.number() < 0 ? shortage_of(errno) : std::nullopt;
}

}  // namespace laneway
