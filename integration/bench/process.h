// What the operating system knows of this process: processor time, memory, bytes received.
//
// Threads: any. Blocking: reads of /proc only. A number that cannot be read is a std::runtime_error: a
// benchmark must not go on without it. Linux only.
#pragma once

#include <cstdint>

namespace bench {

/// User and system time of all threads so far.
double cpu_seconds();
double resident_mib();
/// The most there has been. Unlike getrusage's, it does not include the program that started this one.
double peak_resident_mib();
/// Of this process, now.
int threads();
/// Time that the machine's processors were not idle since it was started, of all of them together.
double machine_busy_seconds();
/// Over the TCP connections that are open now, since each was opened: what a client has read from its
/// brokers, whatever became of it.
std::uint64_t received_bytes();

}  // namespace bench
