#include "app/demo/member.h"

#include <utility>

namespace laneway::demo {

Member::Member(config::Config config) : service_(std::move(config)), thread_([this] { run(); }) {}

Member::~Member() {
  if (!ended()) stop_at_once();
  thread_.join();
}

void Member::run() {
  if (const auto started = service_.start(); started)
    outcome_ = service_.wait();
  else
    outcome_.error = started.error();
  ended_.store(true, std::memory_order_release);
}

void Member::stop() {
  if (!std::exchange(stopping_, true)) service_.stop();
}

void Member::stop_at_once() {
  stop();
  service_.stop();
}

}  // namespace laneway::demo
