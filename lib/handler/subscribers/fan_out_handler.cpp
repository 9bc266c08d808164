#include "handler/subscribers/fan_out_handler.h"

#include <algorithm>
#include <utility>

#include "config/pools/selector.h"

namespace laneway::handler {
namespace {

void add_part(std::string name, Parts& parts) {
  Part& part = parts.emplace_back();
  part.id = std::move(name);
  part.keeps_value = true;
}

/// The subscriber that the event comes back for gets it whatever the file says now: only the pool that sends
/// knows what to do for a subscriber that is disabled or gone.
void add_wanted(const Attempt& attempt, Parts& parts) {
  if (!attempt.part.empty()) return;
  auto name = attempt.record.wanted_sub_job();
  if (name.empty() || name.find('/') != std::string::npos) return;  // not a subscriber of this pool
  if (std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.id == name; })) return;
  add_part(std::move(name), parts);
}

}  // namespace

Status FanOutHandler::check(const config::FanOutSettings& settings, bool passes_on) {
  const auto made = make(settings, passes_on);
  return made ? Status() : made.error();
}

Result<std::unique_ptr<Handler>> FanOutHandler::make(const config::FanOutSettings& settings, bool passes_on) {
  if (!passes_on)
    return Error{ErrorKind::configuration, "handler.fan_out: no other pool gets its results",
                 "use the handler in a pool with the key then"};
  const auto event = config::parse_selector(settings.event, false);
  if (!event) return Error{ErrorKind::configuration, "handler.fan_out.event: " + event.error().message, ""};
  auto file = SubscriberFile::open(settings.subscribers);
  if (!file) return file.error();
  return std::unique_ptr<Handler>(new FanOutHandler(std::move(file).value(), *event));
}

Outcome FanOutHandler::handle_record(const Attempt& attempt) {
  const auto event = attempt.record.selected(event_, attempt.part);
  const auto subscribers = file_->current();
  Parts parts;
  for (const auto& subscriber : *subscribers)
    if (subscriber.enabled && subscriber.wants(event)) add_part(subscriber.name, parts);
  add_wanted(attempt, parts);
  return Outcome::done(std::move(parts));
}

}  // namespace laneway::handler
