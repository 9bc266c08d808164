#include "delivery/dead_letter/dead_letter_read.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/big_endian.h"
#include "delivery/dead_letter/dead_letter_names.h"
#include "delivery/dead_letter/header_values.h"

namespace laneway::delivery {
namespace {

template <class Integer>
std::optional<Integer> big_endian(std::optional<std::string_view> bytes) {
  if (!bytes || bytes->size() != sizeof(Integer)) return {};
  const auto number = static_cast<Integer>(read_big_endian<std::make_unsigned_t<Integer>>(*bytes));
  return number < 0 ? std::nullopt : std::optional(number);
}

std::string text_in(const Headers& headers, std::string_view name, std::string_view otherwise = {}) {
  auto text = last(headers, name);
  if (!text && !otherwise.empty()) text = last(headers, otherwise);
  return std::string(text.value_or(std::string_view()));
}

/// The family by which the record was described last: a Connect sink may have read what Spring wrote.
bool connect_described_last(const Headers& headers) {
  const auto at = [&](std::string_view prefix) {
    return std::find_if(headers.rbegin(), headers.rend(),
                        [&](const Header& header) { return header.name.starts_with(prefix); });
  };
  return at(header::connect_prefix) < at(header::spring_prefix);
}

void read_spring(DeadLetter& letter, const Headers& headers) {
  letter.topic = topic_in(last(headers, header::spring_topic));
  letter.partition = big_endian<std::int32_t>(last(headers, header::spring_partition)).value_or(-1);
  letter.offset = big_endian<std::int64_t>(last(headers, header::spring_offset)).value_or(-1);
  letter.timestamp = big_endian<std::int64_t>(last(headers, header::spring_timestamp)).value_or(-1);
  letter.timestamp_type = timestamp_type_named(text_in(headers, header::spring_timestamp_type));
  letter.consumer_group = text_in(headers, header::spring_group);
  letter.exception = text_in(headers, header::spring_exception, header::spring_key_exception);
  letter.text = text_in(headers, header::spring_message, header::spring_key_message);
}

void read_connect(DeadLetter& letter, const Headers& headers) {
  letter.topic = topic_in(last(headers, header::connect_topic));
  letter.partition = decimal<std::int32_t>(last(headers, header::connect_partition)).value_or(-1);
  letter.offset = decimal<std::int64_t>(last(headers, header::connect_offset)).value_or(-1);
  letter.timestamp = decimal<std::int64_t>(last(headers, header::timestamp)).value_or(-1);
  letter.timestamp_type = timestamp_type_named(text_in(headers, header::timestamp_type));
  letter.consumer_group = text_in(headers, header::group, header::connect_connector);
  letter.exception = text_in(headers, header::connect_exception);
  letter.text = text_in(headers, header::connect_message);
}

}  // namespace

std::uint32_t redrives_of(const Headers& headers) {
  return decimal<std::uint32_t>(last(headers, header::redrives)).value_or(0);
}

std::optional<DeadLetter> read_dead_letter(const Headers& headers) {
  DeadLetter letter;
  if (connect_described_last(headers))
    read_connect(letter, headers);
  else
    read_spring(letter, headers);
  if (letter.topic.empty() && letter.exception.empty() && letter.text.empty()) return {};
  letter.reason = reason_named(last(headers, header::reason).value_or(""));
  letter.attempts = decimal<std::uint32_t>(last(headers, header::attempts)).value_or(0);
  letter.first_failure = decimal<std::int64_t>(last(headers, header::first_failure)).value_or(-1);
  letter.redrives = redrives_of(headers);
  letter.cut = last(headers, header::truncated) || last(headers, header::dropped_headers) ||
               last(headers, header::key_truncated);
  return letter;
}

}  // namespace laneway::delivery
