// Names the resource that this process or machine has run out of, with the limit to raise. Neither the record
// nor the downstream is the cause.
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

/// The current limit of open files, sockets and pipes of this process; RLIM_INFINITY if there is no limit.
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

/// Raises the limit of open files to the hard limit. Soft limits are low for the sake of programs that use
/// select(2), and this program does not. Call once, at the start.
inline void raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) shortage::inherited().store(before);
}
/// The soft limit before the raise, for the programs that we start; nullopt if it was not raised.
inline std::optional<rlim_t> inherited_open_files_limit() {
  const rlim_t limit = shortage::inherited().load();
  return limit == RLIM_INFINITY ? std::nullopt : std::optional(limit);
}

/// Describes the shortage behind an errno; nullopt for an error that is not a shortage. EAGAIN means threads
/// and processes: do not pass an EAGAIN that means "try again later".
inline std::optional<std::string> shortage_of(int error) {
  switch (error) {
    case EMFILE:
      return "this process has reached its limit of open files, " + std::to_string(open_files_limit()) +
             ": raise the limit (ulimit -n; LimitNOFILE= in a systemd unit)";
    case ENFILE:
      return "this machine has reached its limit of open files: raise the limit (sysctl fs.file-max)";
    case EAGAIN:
      return "the system allows no further thread or process: raise the limit (ulimit -u; TasksMax= in a "
             "systemd unit, pids.max of a container), or the limit of memory (ulimit -v)";
    case ENOMEM:
    case ENOBUFS:
      return "no memory is left: raise the limit (ulimit -v; MemoryMax= in a systemd unit)";
    default:
      return std::nullopt;
  }
}

/// Tries to open another file, and returns the reason if that fails. For failures of libraries that do not
/// return the errno.
inline std::optional<std::string> shortage_of_files() {
  const Descriptor another(::eventfd(0, EFD_CLOEXEC));
  return another.number() < 0 ? shortage_of(errno) : std::nullopt;
}

}  // namespace laneway
