#include "delivery/dead_letter/dead_letter.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/big_endian.h"
#include "base/utf8.h"
#include "delivery/dead_letter/dead_letter_names.h"
#include "delivery/dead_letter/dead_letter_read.h"
#include "delivery/dead_letter/header_values.h"

namespace laneway::delivery {
namespace {

template <class Integer>
std::string big_endian(Integer number) {
  std::string bytes;
  append_big_endian(bytes, static_cast<std::make_unsigned_t<Integer>>(number));
  return bytes;
}

/// The bound for names of groups; Kafka has no bound, laneway's configuration has 255.
constexpr std::size_t max_name_bytes = 255;

/// A name in the form of exception classes: something.of.package.
std::string class_of(DeadLetterReason reason) { return "laneway." + std::string(name(reason)); }

void add_spring(Headers& headers, const DeadLetter& letter) {
  const auto text = clean_text(letter.text);
  add(headers, header::spring_topic, letter.topic);
  add(headers, header::spring_partition, big_endian(letter.partition));
  add(headers, header::spring_offset, big_endian(letter.offset));
  add(headers, header::spring_timestamp, big_endian(letter.timestamp));
  add(headers, header::spring_timestamp_type, std::string(name(letter.timestamp_type)));
  add(headers, header::spring_group, clean_text(letter.consumer_group, max_name_bytes));
  add(headers, header::spring_exception, class_of(letter.reason));
  add(headers, header::spring_message, text);
  add(headers, header::spring_stacktrace, class_of(letter.reason) + ": " + text);
}

void add_connect(Headers& headers, const DeadLetter& letter) {
  const auto text = clean_text(letter.text);
  add(headers, header::connect_topic, letter.topic);
  add(headers, header::connect_partition, std::to_string(letter.partition));
  add(headers, header::connect_offset, std::to_string(letter.offset));
  add(headers, header::connect_connector, clean_text(letter.consumer_group, max_name_bytes));
  add(headers, header::connect_task, "0");
  add(headers, header::connect_stage, "TASK_PUT");
  add(headers, header::connect_class, "laneway");
  add(headers, header::connect_exception, class_of(letter.reason));
  add(headers, header::connect_message, text);
  add(headers, header::connect_stacktrace, class_of(letter.reason) + ": " + text);
  if (letter.timestamp >= 0) add(headers, header::timestamp, std::to_string(letter.timestamp));
  add(headers, header::timestamp_type, std::string(name(letter.timestamp_type)));
  add(headers, header::group, clean_text(letter.consumer_group, max_name_bytes));
}

void add_own(Headers& headers, const DeadLetter& letter) {
  add(headers, header::reason, std::string(name(letter.reason)));
  if (letter.attempts > 0) add(headers, header::attempts, std::to_string(letter.attempts));
  if (letter.first_failure >= 0) add(headers, header::first_failure, std::to_string(letter.first_failure));
}

bool names_part(const Header& header) {
  return header.name == part_header && header.value && header.value->size() <= longest_part_bytes;
}

void take_description_off(Headers& headers) {
  std::erase_if(headers, [](const Header& header) {
    return describes_dead_letter(header.name) && !names_part(header);
  });
}

}  // namespace

std::string clean_text(std::string_view bytes, std::size_t max_bytes) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD", ellipsis = "\xE2\x80\xA6";
  std::string text;
  std::size_t room_for_ellipsis = 0;  // the longest prefix that leaves room for the ellipsis
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = utf8_sequence_length(bytes, at);
    if (length == 0)
      text += replacement;
    else if (utf8_control(bytes, at, length))
      text += ' ';
    else
      text += bytes.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    if (text.size() + ellipsis.size() <= max_bytes) room_for_ellipsis = text.size();
    if (text.size() > max_bytes) return text.substr(0, room_for_ellipsis) + std::string(ellipsis);
  }
  return text;
}

Headers dead_letter_headers(Headers headers, const DeadLetter& letter, HeaderFamily family) {
  const auto redrives = redrives_of(headers);
  take_description_off(headers);
  if (family == HeaderFamily::spring)
    add_spring(headers, letter);
  else
    add_connect(headers, letter);
  add_own(headers, letter);
  if (redrives > 0) add(headers, header::redrives, std::to_string(redrives));
  return headers;
}

Headers redriven_headers(Headers headers, std::uint32_t redrives) {
  take_description_off(headers);
  add(headers, header::redrives, std::to_string(redrives));
  return headers;
}

bool describes_dead_letter(std::string_view header_name) {
  return header_name.starts_with(header::spring_prefix) || header_name.starts_with(header::connect_prefix) ||
         header_name.starts_with(header::own_prefix);
}

}  // namespace laneway::delivery
