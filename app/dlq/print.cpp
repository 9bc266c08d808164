#include "app/dlq/print.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/terminal.h"
#include "base/big_endian.h"
#include "base/utc_time.h"
#include "base/utf8.h"
#include "config/text.h"

namespace laneway::dlq {
namespace {

constexpr std::size_t age_width = 5, tries_width = 5, sent_width = 4, blanks = 5;
constexpr std::size_t least_width = 40;  // of a terminal; in a narrower one the lines wrap
constexpr std::size_t least_place = 6;   // as wide as the headings
constexpr std::size_t least_reason = 10;

using cli::age_text;
using cli::cell;
using cli::right;

/// Text with lines, without characters that control a terminal.
bool is_text(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = utf8_sequence_length(bytes, at);
    const bool line = bytes[at] == '\n' || bytes[at] == '\t' ||
                      (bytes[at] == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n');
    if (length == 0 || (utf8_control(bytes, at, length) && !line)) return false;
    at += length;
  }
  return true;
}

std::string indented(std::string_view text) {
  std::string out = "  ";
  for (const char c : text) {
    if (c == '\r') continue;
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + '\n';
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  char field[32];
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    const auto line = bytes.substr(at, 16);
    std::snprintf(field, sizeof field, "  %06zx ", at);
    out += field;
    std::string plain;
    for (std::size_t i = 0; i < 16; ++i) {
      const auto byte = static_cast<unsigned char>(i < line.size() ? line[i] : 0);
      std::snprintf(field, sizeof field, " %02x", byte);
      out += i < line.size() ? field : "   ";
      if (i < line.size()) plain += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
    }
    out += "  " + plain + '\n';
  }
  return out;
}

/// The first bytes, without half a character at the end.
std::string_view beginning(std::string_view bytes, std::size_t max_bytes) {
  if (max_bytes == 0 || bytes.size() <= max_bytes) return bytes;
  auto cut = max_bytes;
  while (cut > 0 && max_bytes - cut < 3 && (static_cast<unsigned char>(bytes[cut]) & 0xC0) == 0x80) --cut;
  return bytes.substr(0, cut);
}

std::string block(const std::string& title, std::optional<std::string_view> bytes, std::size_t max_bytes) {
  if (!bytes) return title + ": null\n";
  std::string out = title + ": " + config::counted(bytes->size(), "byte");
  const auto shown = beginning(*bytes, max_bytes);
  if (shown.size() < bytes->size()) out += ", the first " + std::to_string(shown.size()) + " of them";
  out += '\n';
  if (shown.empty()) return out;
  return out + (is_text(shown) ? indented(shown) : hexadecimal(shown));
}

/// The number in 4 or 8 bytes, as Spring writes numbers; empty if the bytes are text.
std::string number_in(std::string_view bytes) {
  if ((bytes.size() != 4 && bytes.size() != 8) || is_text(bytes)) return {};
  const auto number = bytes.size() == 4 ? static_cast<std::int32_t>(read_big_endian<std::uint32_t>(bytes))
                                        : static_cast<std::int64_t>(read_big_endian<std::uint64_t>(bytes));
  return std::to_string(number);
}

std::string header_text(const delivery::Header& header, std::size_t max_bytes) {
  const auto name = "  " + delivery::clean_text(header.name, 256);
  if (!header.value) return name + ": null\n";
  if (const auto number = number_in(*header.value); !number.empty()) return name + ": " + number + '\n';
  const auto shown = beginning(*header.value, max_bytes);
  const std::string rest =
      shown.size() < header.value->size() ? " … of " + std::to_string(header.value->size()) + " bytes" : "";
  if (!is_text(shown)) return name + ":" + rest + '\n' + hexadecimal(shown);
  if (shown.find('\n') != shown.npos) return name + ":" + rest + '\n' + indented(shown);
  return name + ": " + std::string(shown) + rest + '\n';
}

/// A record without the headers of a dead letter.
std::string no_letter_text(const Letter& letter) {
  return "This record is not a dead letter: no headers name its origin. If this is the place of an original "
         "record,\n`laneway dlq list --origin " +
         place_of(letter) + "` lists the dead letters of the record.\n";
}

const char* sent_back_text(std::optional<bool> sent_back) {
  if (!sent_back) return "not known whether this letter was sent back";
  return *sent_back ? "has sent this letter back" : "has not sent this letter back";
}

std::string description_text(const Letter& letter, const Row& row) {
  std::string out;
  if (!letter.description) return no_letter_text(letter);
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += cell(name, 16) + delivery::clean_text(value) + '\n';
  };
  const auto time = [&](std::int64_t ms) {
    return ms < 0 ? "" : utc_time(ms) + " (" + age_text(row.now - ms) + " ago)";
  };
  line("origin", origin_of(letter));
  line("reason", kind_of(letter));
  const auto& about = *letter.description;
  line("text", about.text);
  line("exception", about.exception);
  line("attempts", about.attempts > 0 ? std::to_string(about.attempts) : "");
  line("first failure", time(about.first_failure));
  line("sent back", about.redrives > 0 ? config::counted(about.redrives, "time") : "");
  line("redrive", sent_back_text(row.sent_back));
  line("consumer group", about.consumer_group);
  line("record's time", time(timestamp_of(letter)));
  line("cut", about.cut ? "yes: the record was larger than this topic accepts" : "");
  return out;
}

/// The whole place, or, where lines are cut, its end.
std::string place_cell(const std::string& place, std::size_t width, const Layout& layout) {
  const auto text = delivery::clean_text(place, cli::most_text);
  return cli::end_cell(text, layout.reason == 0 ? std::max(width, config::characters(text)) : width);
}

}  // namespace

Layout layout_of(const std::string& topic, std::int32_t partitions, std::int64_t end, std::size_t width) {
  const auto longest = topic.size() + std::to_string(std::max(partitions - 1, 0)).size() +
                       std::to_string(std::max<std::int64_t>(end - 1, 0)).size() + 2;
  Layout layout{std::max<std::size_t>(longest, 6), std::max<std::size_t>(longest, 6), 0};
  if (width == 0) return layout;
  width = std::max(width, least_width);
  const auto others = age_width + tries_width + sent_width + blanks;
  const auto places = width - others - least_reason;  // for both places
  layout.letter = std::min({layout.letter, width / 3, std::max(least_place, places * 4 / 7)});
  layout.origin = std::min({layout.origin, width / 4, std::max(least_place, places - layout.letter)});
  layout.reason = width - others - layout.letter - layout.origin;
  return layout;
}

std::string table_heading(const Layout& layout) {
  return cell("letter", layout.letter) + ' ' + cell("origin", layout.origin) + ' ' + right("age", age_width) +
         ' ' + right("tries", tries_width) + ' ' + right("sent", sent_width) + " reason\n";
}

std::string table_row(const Letter& letter, const Row& row, const Layout& layout) {
  const auto& about = letter.description;
  const auto at = failed_at(letter);
  const char* sent = !row.sent_back ? "?" : *row.sent_back ? "yes" : "no";
  auto line = place_cell(place_of(letter), layout.letter, layout) + ' ' +
              place_cell(origin_of(letter), layout.origin, layout) + ' ' +
              right(at < 0 ? "?" : age_text(row.now - at), age_width) + ' ' +
              right(about && about->attempts > 0 ? std::to_string(about->attempts) : "?", tries_width) + ' ' +
              right(sent, sent_width) + ' ' +
              (layout.reason == 0 ? delivery::clean_text(reason_of(letter), cli::most_text)
                                  : cell(reason_of(letter), layout.reason));
  return cli::ended(std::move(line));
}

std::string json_line(const Letter& letter, std::optional<bool> sent_back) {
  using Json = nlohmann::ordered_json;
  const auto number = [](std::int64_t n) { return n < 0 ? Json() : Json(n); };
  Json out = {{"topic", letter.record.topic()},   {"partition", letter.record.partition()},
              {"offset", letter.record.offset()}, {"failed_at", number(failed_at(letter))},
              {"reason", kind_of(letter)},        {"sent_back", sent_back ? Json(*sent_back) : Json()}};
  if (letter.description) {
    const auto& about = *letter.description;
    out["text"] = about.text;
    out["exception"] = about.exception;
    out["origin"] = {{"topic", about.topic},
                     {"partition", number(about.partition)},
                     {"offset", number(about.offset)},
                     {"timestamp", number(about.timestamp)},
                     {"consumer_group", about.consumer_group}};
    out["attempts"] = about.attempts > 0 ? Json(about.attempts) : Json();
    out["redrives"] = about.redrives;
    out["cut"] = about.cut;
  }
  return out.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string full_text(const Letter& letter, const Row& row, std::size_t max_bytes) {
  const auto& record = letter.record;
  std::string out = place_of(letter) + '\n';
  out += description_text(letter, row) + '\n';
  out += "headers: " + std::to_string(letter.headers.size()) + '\n';
  for (const auto& header : letter.headers) out += header_text(header, max_bytes);
  out += '\n' + block("key", record.raw_key(), max_bytes);
  return out + '\n' + block("value", record.raw_value(), max_bytes);
}

}  // namespace laneway::dlq
