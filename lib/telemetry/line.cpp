#include "telemetry/line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "telemetry/escape.h"

namespace laneway::telemetry {
namespace {

constexpr std::size_t longest_value = 2048;

/// The documented order; the empty name stands for all other fields.
constexpr std::array<std::string_view, 9> order = {"topic",       "partition", "offset",  "epoch", "attempt",
                                                   "duration_ms", "",          "outcome", "error"};

std::ptrdiff_t rank(std::string_view name) {
  const auto found = std::find(order.begin(), order.end(), name);
  return (found == order.end() ? std::find(order.begin(), order.end(), "") : found) - order.begin();
}

std::string_view level_name(Level level) {
  static constexpr std::array<std::string_view, 5> names = {"trace", "debug", "info", "warn", "error"};
  static_assert(names.size() == static_cast<std::size_t>(Level::error) + 1, "a name for each");
  return names[static_cast<std::size_t>(level)];
}

std::string shortened(std::string_view value) {
  if (value.size() <= longest_value) return std::string(value);
  return std::string(value.substr(0, longest_value)) + "... (" + std::to_string(value.size()) + " bytes)";
}

void append_string(std::string& out, Format format, std::string_view value) {
  std::string cut;
  if (value.size() > longest_value) value = cut = shortened(value);
  format == Format::json ? append_json_string(out, value) : append_text_value(out, value);
}

template <class Number, class... How>
void append_number(std::string& out, Number number, How... how) {
  std::array<char, 352> digits;  // the smallest double has 344 characters without an exponent
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, how...).ptr;
  out.append(digits.data(), end);
}

void append_value(std::string& out, Format format, const Field::Value& value) {
  std::visit(
      [&](auto v) {
        using T = decltype(v);
        if constexpr (std::is_same_v<T, std::string_view>) {
          append_string(out, format, v);
        } else if constexpr (std::is_same_v<T, bool>) {
          out += v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          // JSON has no infinity and no NaN.
          if (std::isfinite(v) || format == Format::text) {
            append_number(out, v, std::chars_format::fixed);
          } else {
            out += "null";
          }
        } else {
          append_number(out, v);
        }
      },
      value);
}

void append_field(std::string& out, Format format, const Field& field) {
  if (!out.empty()) out += format == Format::json ? ',' : ' ';
  if (format == Format::json) {
    append_json_string(out, field.name);
    out += ':';
  } else {
    out += field.name;
    out += '=';
  }
  append_value(out, format, field.value);
}

/// Appends the fields that are shown in the documented order.
void append_fields(std::string& out, Format format, Fields fields) {
  std::vector<const Field*> sorted;
  for (const Field& field : fields)
    if (is_shown(field)) sorted.push_back(&field);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Field* a, const Field* b) { return rank(a->name) < rank(b->name); });
  for (const Field* field : sorted) append_field(out, format, *field);
}

}  // namespace

bool is_shown(const Field& field) {
  if (field.name.empty()) return false;
  if (const auto* text = std::get_if<std::string_view>(&field.value)) return !text->empty();
  const auto* number = std::get_if<std::int64_t>(&field.value);
  return number == nullptr || *number >= 0 || field.name != "offset";
}

std::string render_line(Format format, Level level, std::string_view message, Fields fields) {
  std::string out;
  out.reserve(128);
  append_field(out, format, {"level", level_name(level)});
  append_field(out, format, {"msg", message});
  append_fields(out, format, fields);
  return out;
}

std::string render_message(std::string_view message, Fields fields) {
  std::string out;
  append_escaped(out, message);
  append_fields(out, Format::text, fields);
  return out;
}

std::string render_plain(const Field::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return shortened(*text);
  std::string out;
  append_value(out, Format::text, value);
  return out;
}

}  // namespace laneway::telemetry
