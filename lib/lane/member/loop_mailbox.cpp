#include "lane/member/loop_mailbox.h"

#include <utility>

namespace laneway::lane {
namespace {

constexpr std::size_t most_commands = 64;

}  // namespace

void LoopMailbox::stop() {
  int running = 0;
  stops_.compare_exchange_strong(running, 1);
  signal_.notify();
}

void LoopMailbox::cut_short() {
  stops_.store(2);
  signal_.notify();
}

void LoopMailbox::notify() {
  has_mail_.store(true);
  signal_.notify();
}

bool LoopMailbox::post(LaneCommand command) {
  {
    MutexLock lock(mutex_);
    if (closed_ || contents_.commands.size() >= most_commands) return false;
    contents_.commands.push_back(std::move(command));
  }
  notify();
  return true;
}

void LoopMailbox::suspensions_changed() { notify(); }

void LoopMailbox::follow(std::shared_ptr<const config::Config> settings) {
  {
    MutexLock lock(mutex_);
    contents_.settings = std::move(settings);
  }
  notify();
}

LoopMailbox::Contents LoopMailbox::take() {
  has_mail_.store(false);
  MutexLock lock(mutex_);
  return std::exchange(contents_, {});
}

void LoopMailbox::close() {
  std::vector<LaneCommand> unrun;  // destroyed after the lock is released
  MutexLock lock(mutex_);
  closed_ = true;
  unrun.swap(contents_.commands);
}

}  // namespace laneway::lane
