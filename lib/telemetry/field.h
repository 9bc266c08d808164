// The parts of a log event: its level and its fields. Plain data.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace laneway::telemetry {

enum class Level : std::uint8_t { trace, debug, info, warn, error };
enum class Format : std::uint8_t { text, json };

/// A name with a value. The members are views, so a field must not outlive the call that it is an argument
/// of. A field without a name, with an empty text, or with an offset below 0 is left out of the line.
class Field {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  Field(std::string_view field_name, std::string_view v) : name(field_name), value(v) {}
  Field(std::string_view field_name, const char* v) : name(field_name), value(std::string_view(v)) {}
  Field(std::string_view field_name, const std::string& v) : name(field_name), value(std::string_view(v)) {}
  Field(std::string_view field_name, bool v) : name(field_name), value(v) {}
  Field(std::string_view field_name, double v) : name(field_name), value(v) {}
  template <std::signed_integral T>
  Field(std::string_view field_name, T v) : name(field_name), value(static_cast<std::int64_t>(v)) {}
  template <std::unsigned_integral T>
  Field(std::string_view field_name, T v) : name(field_name), value(static_cast<std::uint64_t>(v)) {}
  /// Printed in milliseconds, to the microsecond; the name should end in _ms.
  Field(std::string_view field_name, Duration v)
      : name(field_name), value(static_cast<double>(duration_cast<microseconds>(v).count()) / 1000.0) {}

  std::string_view name;
  Value value;
};

using Fields = std::initializer_list<Field>;

}  // namespace laneway::telemetry
