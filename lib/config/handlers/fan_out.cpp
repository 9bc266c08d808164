#include "config/handlers/handler_schema.h"

#include "config/checks/rule_context.h"
#include "config/pools/selector.h"
#include "config/property.h"

namespace laneway::config {
namespace {

std::string check_event(const std::string& text) {
  const auto selector = parse_selector(text, false);
  if (!selector) return selector.error().message;
  return selector->enabled() ? "" : "it is empty";
}

std::string check_path(const std::string& path) { return path.empty() ? "it is empty" : ""; }

Rows fan_out_properties() {
  return rows_of<FanOutSettings>({
      {"handler.fan_out.subscribers", no_value_if_empty(text("the path of a file", check_path)),
       &FanOutSettings::subscribers,
       "File with the subscribers; docs/webhooks.md describes it. The service reads the file again within a "
       "second after a change.",
       "/etc/laneway/subscribers.yaml"},
      {"handler.fan_out.event", text("one of topic, key, header:NAME and value:/json/pointer", check_event),
       &FanOutSettings::event,
       "Where the type of an event is found. Subscribers can name the types that they want."},
  });
}

void check_fan_out(const HandlerSettings& handler, RuleContext& rules) {
  if (std::get<FanOutSettings>(handler).subscribers.empty())
    rules.require_of_handler("handler.fan_out.subscribers", "the file with the subscribers");
}

}  // namespace

HandlerSchema schema_of(const FanOutSettings&) {
  return {.name = "fan_out",
          .properties = fan_out_properties,
          .check = check_fan_out,
          .traits = {.occupies = Occupies::thread,
                     .gives_results = true,
                     .does_work = true,
                     .output = nullptr,
                     .program = nullptr},
          .section = {.position = 6,
                      .text = "One result for each subscriber of an event, for a pool that is next: "
                              "[webhooks](webhooks.md).",
                      .example = "handler:\n  fan_out: { subscribers: /etc/laneway/subscribers.yaml }\n"}};
}

}  // namespace laneway::config
