// `handler.simulate`: simulates work, for trying out settings.
//
// Whether a record fails or hangs, and how long it sleeps, depends on topic, partition, offset, attempt and,
// if some fail or hang, on the number of earlier calls. An attempt first hangs if it is chosen to; otherwise
// it sleeps, then burns processor time, then fails or is done. A stop ends each of these at once (answer:
// retry). Without any configuration, an attempt costs one virtual call.
//
// Threads: any number; only the number of calls is shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"

namespace laneway::handler {

/// Log-normal with p50 and p99 if p99 is set, otherwise p50. `first` and `second` are independent and uniform
/// in [0, 1).
Duration simulated_sleep(const config::SimulateSettings::Sleep& sleep, double first, double second);

class SimulateHandler final : public RecordHandler {
 public:
  /// Error: configuration, for a fraction outside [0, 1] or for percentiles that do not form a distribution.
  static Result<std::unique_ptr<Handler>> make(const config::SimulateSettings& settings);
  static Status check(const config::SimulateSettings& settings);

  Duration timeout() const override { return settings_.timeout; }
  std::string name() const override { return "simulate"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  explicit SimulateHandler(const config::SimulateSettings& settings);

  Outcome work(const Attempt& attempt);
  bool hangs(const Attempt& attempt, std::uint64_t call) const;

  const config::SimulateSettings settings_;
  const bool does_nothing_;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace laneway::handler
