#include "config/handlers/fan_out.h"

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

std::vector<Property> fan_out_properties() {
  std::vector<Property> table;
  auto subscribers =
      text("handler.fan_out.subscribers", handler_at_start, "the path of a file",
           "File with the subscribers; docs/webhooks.md describes it. The service reads the file "
           "again within a second after a change.",
           in_handler(&FanOutSettings::subscribers),
           [](const std::string& path) { return std::string(path.empty() ? "it is empty" : ""); });
  subscribers.example = "/etc/laneway/subscribers.yaml";
  subscribers.print = [print = subscribers.print](const Config& config) {
    return std::get<FanOutSettings>(config.handler).subscribers.empty() ? std::string() : print(config);
  };
  table.push_back(std::move(subscribers));
  table.push_back(text("handler.fan_out.event", handler_at_start,
                       "one of topic, key, header:NAME and value:/json/pointer",
                       "Where the type of an event is found. Subscribers can name the types that they want.",
                       in_handler(&FanOutSettings::event), check_event));
  return table;
}

void check_fan_out(RuleContext& rules) {
  if (std::get<FanOutSettings>(rules.config().handler).subscribers.empty())
    rules.require_of_handler("handler.fan_out.subscribers", "the file with the subscribers");
}

}  // namespace

HandlerSchema schema_of(const FanOutSettings&) {
  return {
      .name = "fan_out",
      .properties = fan_out_properties,
      .check = check_fan_out,
      .traits = {.occupies = Occupies::thread, .gives_results = true, .output = nullptr, .program = nullptr},
      .section = {.position = 6,
                  .text = "One result for each subscriber of an event, for a pool that is next: "
                          "[webhooks](webhooks.md).",
                  .example = "handler:\n  fan_out: { subscribers: /etc/laneway/subscribers.yaml }\n"}};
}

}  // namespace laneway::config
