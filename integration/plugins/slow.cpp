// Takes 10 ms for each record: what the order of keys costs.
#include <chrono>
#include <thread>

#include "laneway/plugin.hpp"

namespace {

laneway::Answer slow(const laneway::Record&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return laneway::Answer::done();
}

}  // namespace

LANEWAY_PLUGIN_FUNCTION("slow", "1.0", slow)
