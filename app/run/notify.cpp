#include "app/run/notify.h"

#include <pthread.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "config/text.h"
#include "delivery/dead_letter/dead_letter.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

using config::counted;

/// The greatest age of the status that a person sees.
constexpr Duration status_interval = seconds(5);

/// The interval of the service manager's watchdog; zero if it has no watchdog.
Duration watchdog() {
  std::uint64_t us = 0;
  return sd_watchdog_enabled(0, &us) > 0 ? Duration(microseconds(us)) : Duration::zero();
}

std::string life(const Notification& notification) {
  if (!notification.entered) return {};
  if (*notification.entered == Phase::started) return "READY=1\n";
  return (*notification.entered == Phase::stopping ? "STOPPING=1\nEXTEND_TIMEOUT_USEC="
                                                   : "EXTEND_TIMEOUT_USEC=") +
         std::to_string(duration_cast<microseconds>(notification.at_most).count()) + '\n';
}

}  // namespace

std::string encode(const Notification& notification) {
  const auto status = delivery::clean_text(notification.status, std::string::npos);
  return life(notification) + (notification.ticks ? "WATCHDOG=1\n" : "") + "STATUS=" + status + '\n';
}

std::string encode_reload(TimePoint begun) {
  const auto since_boot = duration_cast<microseconds>(SteadyClock::on_machine(begun).time_since_epoch());
  return "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(since_boot.count()) + '\n';
}

std::string summary(const std::vector<service::LaneView>& lanes) {
  std::uint64_t lag = 0;
  std::uint64_t at_work = 0;
  std::map<lane::State, int> not_running;
  for (const auto& lane : lanes) {
    lag += static_cast<std::uint64_t>(std::max<std::int64_t>(lane.lag, 0));
    at_work += lane.in_flight;
    if (lane.state != lane::State::running) ++not_running[lane.state];
  }
  std::string text = counted(lanes.size(), "lane") + ", " + counted(lag, "record") + " behind, " +
                     std::to_string(at_work) + " running";
  for (const auto& [state, count] : not_running)
    text += ", " + std::to_string(count) + ' ' + lane::name_of(state);
  return text;
}

std::string status_line(const service::Readiness& readiness, const std::vector<service::LaneView>& lanes) {
  if (readiness.ready()) return summary(lanes);
  const auto& first = readiness.reasons.front();
  std::string text = std::string(in_words(first.code)) + ": " + first.text;
  if (const auto more = readiness.reasons.size() - 1; more > 0)
    text += ", and " + counted(more, "more reason");
  return lanes.empty() ? text : text + "; " + summary(lanes);
}

Notifier::Notifier(Sources sources, bool enabled)
    : sources_(std::move(sources)),
      feeds_(watchdog() > Duration::zero()),
      interval_(feeds_ ? std::min(watchdog() / 2, status_interval) : status_interval) {
  if (enabled && std::getenv("NOTIFY_SOCKET") != nullptr) thread_ = std::thread([this] { work(); });
}

Notifier::~Notifier() {
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Notifier::enter(Phase phase, Duration at_most, std::string why) {
  {
    MutexLock lock(mutex_);
    if (phase_ && phase < *phase_) return;
    if (!why.empty()) why_ = std::move(why);
    if (phase_ == phase) return;
    phase_ = untold_ = phase;
    at_most_ = at_most;
  }
  changed_.notify_one();
}

void Notifier::reloaded(TimePoint begun) {
  {
    MutexLock lock(mutex_);
    if (phase_ != Phase::started) return;
    untold_reload_ = begun;
  }
  changed_.notify_one();
}

void Notifier::work() {
  ::pthread_setname_np(::pthread_self(), "notify");
  while (wait_until(SteadyClock::now() + interval_)) tell();
  tell();
}

bool Notifier::wait_until(TimePoint at) {
  MutexLock lock(mutex_);
  while (!ended_ && !untold_ && !untold_reload_ && SteadyClock::now() < at) changed_.wait_until(mutex_, at);
  return !ended_;
}

std::string Notifier::status_in(Phase phase) const {
  if (phase == Phase::starting) return "waiting for brokers and topics";
  if (phase == Phase::stopping) return "draining: " + summary(sources_.lanes());
  return status_line(sources_.ready(), sources_.lanes());
}

void Notifier::tell() {
  Notification now;
  Phase phase{};
  std::optional<TimePoint> reload;
  {
    MutexLock lock(mutex_);
    reload = std::exchange(untold_reload_, std::nullopt);
    now.entered = std::exchange(untold_, std::nullopt);
    now.at_most = at_most_;
    now.status = why_;
    phase = phase_.value_or(Phase::starting);
  }
  if (reload) {
    (void)sd_notify(0, encode_reload(*reload).c_str());
    if (!now.entered) now.entered = Phase::started;
  }
  const auto live = sources_.live();
  now.ticks = feeds_ && live.live;
  if (now.status.empty()) now.status = live.live ? status_in(phase) : live.reason;
  const int code = sd_notify(0, encode(now).c_str());
  if (code < 0 && code != last_code_)
    telemetry::warn("the service manager could not be notified", {{"error", std::strerror(-code)}});
  last_code_ = code;
}

}  // namespace laneway::app
