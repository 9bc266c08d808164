// Any headers as those of a dead letter or of a retry topic's record: what is read makes sense, survives
// being written, and fits when cut. A header is a byte that chooses its name (0: one of its own, a length
// byte and so many bytes), then a length byte (255: null) and the value.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "delivery/dead_letter/dead_letter.h"
#include "delivery/dead_letter/dead_letter_cut.h"
#include "delivery/dead_letter/dead_letter_names.h"
#include "delivery/dead_letter/dead_letter_read.h"
#include "delivery/dead_letter/retry_headers.h"
#include "tracing/trace_context.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

constexpr std::array names{
    std::string_view(),
    header::spring_topic,
    header::spring_partition,
    header::spring_offset,
    header::spring_timestamp,
    header::spring_timestamp_type,
    header::spring_group,
    header::spring_exception,
    header::spring_message,
    header::connect_topic,
    header::connect_partition,
    header::connect_offset,
    header::connect_connector,
    header::connect_exception,
    header::connect_message,
    header::reason,
    header::attempts,
    header::first_failure,
    header::redrives,
    header::truncated,
    header::timestamp,
    header::group,
    header::spring_key_exception,
    header::timestamp_type,
    std::string_view("laneway-retry-topic"),
    std::string_view("laneway-retry-partition"),
    std::string_view("laneway-retry-offset"),
    std::string_view("laneway-retry-timestamp"),
    std::string_view("laneway-retry-attempts"),
    std::string_view("laneway-retry-first-failure"),
    tracing::traceparent_header,
};

struct Input {
  std::string_view bytes;

  std::size_t byte() {
    if (bytes.empty()) return 0;
    const auto value = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    return value;
  }
  std::string take(std::size_t size) {
    const std::string taken(bytes.substr(0, size));
    bytes.remove_prefix(taken.size());
    return taken;
  }
};

Headers headers_in(Input input) {
  Headers headers;
  while (!input.bytes.empty()) {
    const auto choice = input.byte() % names.size();
    Header header{choice == 0 ? input.take(input.byte()) : std::string(names[choice]), {}};
    if (const auto size = input.byte(); size != 255) header.value = input.take(size);
    headers.push_back(std::move(header));
  }
  return headers;
}

void must(bool condition) {
  if (!condition) std::abort();
}

bool one_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_sequence_length(text, at);
    if (length == 0 || utf8_control(text, at, length)) return false;
    at += length;
  }
  return true;
}

void check_retry_origin(const Headers& headers) {
  auto read = read_retry_origin(headers);
  if (!read) return;
  must(!read->topic.empty() && read->partition >= 0 && read->offset >= 0 && read->attempts <= 1'000'000'000);
  const auto written = retry_headers(headers, *read);
  must(read_retry_origin(written) == read && retry_headers(written, *read) == written);
}

void check_traceparents(const Headers& headers) {
  for (const auto& header : headers) {
    const auto read = tracing::parse_traceparent(header.value.value_or(""));
    if (read) must(tracing::parse_traceparent(tracing::print_traceparent(*read)) == read);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto headers = headers_in({{reinterpret_cast<const char*>(data), size}});
  check_retry_origin(headers);
  check_traceparents(headers);
  const auto read = read_dead_letter(headers);
  if (!read) return 0;
  must(read->partition >= -1 && read->offset >= -1 && read->timestamp >= -1 && read->first_failure >= -1);
  must(read->topic.size() <= 249 && one_line(read->topic));
  must(one_line(clean_text(read->text)) && clean_text(read->text).size() <= max_text_bytes);
  for (const auto family : {HeaderFamily::spring, HeaderFamily::connect}) {
    const auto written = dead_letter_headers(headers, *read, family);
    const auto again = read_dead_letter(written);
    must(again && again->topic == read->topic && again->partition == read->partition &&
         again->offset == read->offset && again->timestamp == read->timestamp &&
         again->reason == read->reason && again->redrives == read->redrives && !again->cut);
    must(record_bytes({}, {}, written) <= record_bytes({}, {}, headers) + max_description_bytes);
    const auto cut = cut_to_fit({std::string(headers.size() * 97, 'k'), {}, written}, 0);
    must(record_bytes(cut.key, cut.value, cut.headers) <= least_record_limit);
  }
  for (const auto& header : redriven_headers(headers, 1))
    must(!describes_dead_letter(header.name) || header.name == header::redrives);
  return 0;
}
