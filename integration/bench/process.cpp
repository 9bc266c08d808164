#include "process.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::stod(line.substr(field.size()));
  throw std::runtime_error("/proc/self/status has no " + field);
}

double mib_of(const std::string& field) { return status_of(field) / 1024; }

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double resident_mib() { return mib_of("VmRSS:"); }

double peak_resident_mib() { return mib_of("VmHWM:"); }

int threads() { return static_cast<int>(status_of("Threads:")); }

double machine_busy_seconds() {
  std::ifstream stat("/proc/stat");  // "cpu user nice system idle iowait irq softirq …", in ticks
  std::string name;
  stat >> name;
  double busy = 0, ticks = 0;
  for (int field = 0; field < 8 && stat >> ticks; ++field)
    if (field != 3 && field != 4) busy += ticks;
  if (!stat) throw std::runtime_error("/proc/stat cannot be read");
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t received_bytes() {
  std::uint64_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    tcp_info info{};
    socklen_t size = sizeof info;
    // Fails for what is not a TCP socket.
    if (getsockopt(std::stoi(entry.path().filename()), IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
      total += info.tcpi_bytes_received;
  }
  return total;
}

}  // namespace bench
