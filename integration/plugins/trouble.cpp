// Slow, throws, hangs, once crashes the process, and then once ignores its stop. Which record does what
// follows from its offset; the configuration is {"crashed": PATH}: a file that is there when it has crashed,
// {"crashed": ""} for never. Who ignores its stop does so until the file is away again.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "laneway/plugin.hpp"

namespace {

class Trouble final : public laneway::RecordPlugin {
 public:
  Trouble(laneway::Host, std::string_view config) {
    const auto begin = config.find(": \"");
    const auto end = config.rfind('"');
    if (begin == config.npos || end < begin + 3) throw std::invalid_argument("crashed: a path is needed");
    crashed_ = std::string(config.substr(begin + 3, end - begin - 3));
  }

  laneway::Answer handle(const laneway::Record& record) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(record.offset() % 50 == 0 ? 60 : 2));
    if (record.offset() == 600) crash_once();
    if (record.offset() == 750 && record.partition() == 0 && record.attempt() == 1) ignore_stop();
    if (record.attempt() > 1) return laneway::Answer::done();
    if (record.offset() % 41 == 0) throw std::runtime_error("trouble");
    if (record.offset() == 120)
      while (!record.wait(std::chrono::milliseconds(1000))) {
      }
    return record.stop_requested() ? laneway::Answer::retry("stopped") : laneway::Answer::done();
  }

 private:
  void ignore_stop() const {
    while (!crashed_.empty() && ::access(crashed_.c_str(), F_OK) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  void crash_once() const {
    if (crashed_.empty()) return;
    std::FILE* marker = std::fopen(crashed_.c_str(), "wx");
    if (marker == nullptr) return;
    std::fclose(marker);
    std::raise(SIGSEGV);
  }

  std::string crashed_;
};

}  // namespace

LANEWAY_PLUGIN("trouble", "1.0", Trouble)
