// One record crashes the process whenever it is handled: offset 300 of partition 1.
#include <csignal>
#include <thread>

#include "laneway/plugin.hpp"

namespace {

laneway::Answer handle(const laneway::Record& record) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (record.partition() == 1 && record.offset() == 300) std::raise(SIGSEGV);
  return laneway::Answer::done();
}

}  // namespace

LANEWAY_PLUGIN_FUNCTION("poison", "1.0", handle)
