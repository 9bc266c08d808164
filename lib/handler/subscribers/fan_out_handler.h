// `handler.fan_out`: the results of an event are one sub-job for each subscriber that wants it, with the
// subscriber's name as its id and the event's value. An event that comes back for one subscriber has a
// sub-job for it even if the subscriber is disabled, or gone, or does not want such events any more.
//
// Threads: any number. Blocks only as long as SubscriberFile does.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/subscribers/subscriber_file.h"

namespace laneway::handler {

class FanOutHandler final : public RecordHandler {
 public:
  /// Errors: configuration, for a pool without a next pool; those of SubscriberFile.
  static Result<std::unique_ptr<Handler>> make(const config::FanOutSettings& settings, bool passes_on);
  /// The error of make(). No side effects.
  static Status check(const config::FanOutSettings& settings, bool passes_on);

  std::string name() const override { return "fan_out"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  FanOutHandler(std::unique_ptr<SubscriberFile> file, config::Selector event)
      : file_(std::move(file)), event_(std::move(event)) {}

  const std::unique_ptr<SubscriberFile> file_;
  const config::Selector event_;
};

}  // namespace laneway::handler
