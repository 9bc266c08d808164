// `handler.simulate`: behaves like work, to try settings with.
//
// Which records fail, hang, or sleep for how long follows from topic, partition, offset, attempt and, if some
// fail or hang, the number of calls before. An attempt first hangs if it is one of those, else sleeps, then
// burns processor time, then fails or is done. A stop ends any of it at once (answer: retry). With nothing
// configured an attempt costs a virtual call.
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

/// Log-normal through p50 and p99 where p99 is set, else p50. `first` and `second` are independent, uniform
/// in [0, 1).
Duration simulated_sleep(const config::SimulateSettings::Sleep& sleep, double first, double second);

class SimulateHandler final : public RecordHandler {
 public:
  /// Error: configuration, for a fraction outside [0, 1] or percentiles that make no distribution.
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
