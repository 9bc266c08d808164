// The settings of `handler.fan_out`. The .cpp file has the rest of the handler's configuration: keys, rules,
// and the section of the reference. See handler_schema.h. Pure.
#pragma once

#include <string>

namespace laneway::config {

struct HandlerSchema;

/// `handler.fan_out`: one result for each subscriber of an event.
struct FanOutSettings {
  std::string subscribers;  ///< path of the file; see subscribers.h
  /// Where the type of an event is found, which the `events` of subscribers are compared with: a selector as
  /// in config/pools/selector.h.
  std::string event = "header:type";
};

HandlerSchema schema_of(const FanOutSettings&);

}  // namespace laneway::config
