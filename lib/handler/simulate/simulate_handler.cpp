#include "handler/simulate/simulate_handler.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/mix.h"

namespace laneway::handler {
namespace {

/// The purpose of a random number; each purpose has its own stream.
enum class Purpose : std::uint64_t { hang = 1, fail, sleep_radius, sleep_angle };

/// A number uniform in [0, 1), the same for the same call of the same attempt on every machine.
double uniform(const Attempt& attempt, Purpose purpose, std::uint64_t call) {
  auto hash = mixed(static_cast<std::uint64_t>(purpose) ^ mixed(call));
  for (const char c : attempt.record.topic()) hash = mixed(hash ^ static_cast<unsigned char>(c));
  hash = mixed(hash ^ static_cast<std::uint32_t>(attempt.record.partition()));
  hash = mixed(hash ^ static_cast<std::uint64_t>(attempt.record.offset()));
  hash = mixed(hash ^ attempt.number);
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

/// The processor time of this thread, so that a spin is the same amount of work however busy the machine is.
Duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

bool spin(Duration duration, StopToken stop) {
  const Duration end = processor_time() + duration;
  while (processor_time() < end)
    if (stop.stop_requested()) return false;
  return true;
}

Error refused(std::string message, std::string hint) {
  return {ErrorKind::configuration, "handler.simulate: " + std::move(message), std::move(hint)};
}

Parts results_of(const Attempt& attempt, std::uint32_t count) {
  Parts parts(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    parts[i].id = std::to_string(i);
    if (const auto value = attempt.record.value()) parts[i].value = *value;
  }
  return parts;
}

bool is_fraction(double value) { return value >= 0 && value <= 1; }

}  // namespace

Duration simulated_sleep(const config::SimulateSettings::Sleep& sleep, double first, double second) {
  if (!sleep.p99) return sleep.p50;
  constexpr double normal_p99 = 2.3263478740408408;  // the standard normal's 99th percentile
  const double spread = std::log(to_seconds(*sleep.p99) / to_seconds(sleep.p50)) / normal_p99;
  // Box and Muller, "A note on the generation of random normal deviates", 1958.
  const double normal = std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second);
  return duration_cast<Duration>(sleep.p50 * std::exp(spread * normal));
}

Status SimulateHandler::check(const config::SimulateSettings& settings) {
  const auto& sleep = settings.sleep;
  if (!is_fraction(settings.fail) || !is_fraction(settings.hang))
    return refused("fail and hang are fractions of the attempts", "give a number from 0 to 1");
  if (sleep.p50 < Duration::zero() || settings.spin < Duration::zero())
    return refused("a duration is negative", "use 0ms for no delay");
  if (sleep.p99 && (sleep.p50 == Duration::zero() || *sleep.p99 < sleep.p50))
    return refused("sleep.p99 is less than sleep.p50, or sleep.p50 is 0",
                   "give 0 < p50 <= p99, or a single duration");
  return {};
}

Result<std::unique_ptr<Handler>> SimulateHandler::make(const config::SimulateSettings& settings) {
  if (const auto status = check(settings); !status) return status.error();
  return std::unique_ptr<Handler>(new SimulateHandler(settings));
}

SimulateHandler::SimulateHandler(const config::SimulateSettings& settings)
    : settings_(settings),
      does_nothing_(settings.sleep.p50 == Duration::zero() && settings.spin == Duration::zero() &&
                    settings.fail == 0 && settings.hang == 0 && settings.hang_partitions.empty() &&
                    settings.results == 0) {}

Outcome SimulateHandler::handle_record(const Attempt& attempt) {
  return does_nothing_ ? Outcome::done() : work(attempt);
}

Outcome SimulateHandler::work(const Attempt& attempt) {
  // Attempts that do not count have the same number, and must not all end in the same way.
  const bool differs = settings_.fail > 0 || settings_.hang > 0;
  const auto call = differs ? calls_.fetch_add(1, std::memory_order_relaxed) : 0;
  if (hangs(attempt, call)) {
    while (!attempt.stop.wait_until(SteadyClock::now() + std::chrono::hours(1))) {
    }
    return Outcome::retry("simulated hang, stopped");
  }
  Duration sleep = settings_.sleep.p50;
  if (settings_.sleep.p99)
    sleep = simulated_sleep(settings_.sleep, uniform(attempt, Purpose::sleep_radius, call),
                            uniform(attempt, Purpose::sleep_angle, call));
  if (sleep > Duration::zero() && attempt.stop.wait_until(SteadyClock::now() + sleep))
    return Outcome::retry("stopped while asleep");
  if (settings_.spin > Duration::zero() && !spin(settings_.spin, attempt.stop))
    return Outcome::retry("stopped while busy");
  if (settings_.fail > 0 && uniform(attempt, Purpose::fail, call) < settings_.fail)
    return Outcome::retry("simulated failure");
  return settings_.results == 0 ? Outcome::done() : Outcome::done(results_of(attempt, settings_.results));
}

bool SimulateHandler::hangs(const Attempt& attempt, std::uint64_t call) const {
  const auto& partitions = settings_.hang_partitions;
  if (std::find(partitions.begin(), partitions.end(), attempt.record.partition()) != partitions.end())
    return true;
  return settings_.hang > 0 && uniform(attempt, Purpose::hang, call) < settings_.hang;
}

}  // namespace laneway::handler
