#include "app/process/signals.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "telemetry/log.h"

namespace laneway::app {
namespace {

sigset_t taken_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void block_signals() {
  const sigset_t signals = taken_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Signals::Signals(std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)), thread_([this] { take(); }) {}

Signals::~Signals() {
  ended_.store(true);
  pthread_kill(thread_.native_handle(), SIGTERM);  // wakes the thread
  thread_.join();
}

void Signals::take() {
  const sigset_t signals = taken_signals();
  const timespec slice{1, 0};
  for (;;) {
    const int signal = sigtimedwait(&signals, nullptr, &slice);
    if (ended_.load()) return;
    if (signal > 0)
      on_signal_(signal);
    else
      telemetry::flush_log(false);
  }
}

}  // namespace laneway::app
