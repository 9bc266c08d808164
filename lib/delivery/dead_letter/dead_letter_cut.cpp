#include "delivery/dead_letter/dead_letter_cut.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "delivery/dead_letter/dead_letter_names.h"

namespace laneway::delivery {
namespace {

// Kafka's record format 2: up to 5 bytes for a length, 10 for a timestamp; a batch has 61 bytes of its own.
constexpr std::size_t length_bytes = 5;
constexpr std::size_t frame_bytes = 128;
/// Room for the three headers that report what is missing.
constexpr std::size_t counts_bytes = 256;

std::size_t header_bytes(const Header& header) {
  return 2 * length_bytes + header.name.size() + (header.value ? header.value->size() : 0);
}

Header* find(Headers& headers, std::string_view name) {
  const auto found =
      std::find_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? nullptr : &*found;
}

/// A letter that was cut before already has its first size.
void set_size(Headers& headers, std::string_view name, std::size_t bytes) {
  if (find(headers, name) == nullptr) headers.push_back({std::string(name), std::to_string(bytes)});
}

void add_count(Headers& headers, std::string_view name, std::size_t count) {
  if (Header* before = find(headers, name))
    before->value = std::to_string(count + std::stoull(before->value.value_or("0")));
  else
    headers.push_back({std::string(name), std::to_string(count)});
}

/// Drops the record's own headers, the largest first, until `excess` bytes are gone or none is left. Returns
/// the number of dropped headers.
std::size_t drop_largest(Headers& headers, std::size_t excess) {
  std::vector<std::size_t> order;
  for (std::size_t at = headers.size(); at-- > 0;)
    if (!describes_dead_letter(headers[at].name)) order.push_back(at);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return header_bytes(headers[a]) > header_bytes(headers[b]);
  });
  std::size_t dropped = 0;
  for (std::size_t gone = 0; gone < excess && dropped < order.size(); ++dropped)
    gone += header_bytes(headers[order[dropped]]);
  order.resize(dropped);
  std::sort(order.begin(), order.end());
  Headers kept;
  for (std::size_t at = 0; at < headers.size(); ++at)
    if (!std::binary_search(order.begin(), order.end(), at)) kept.push_back(std::move(headers[at]));
  headers = std::move(kept);
  return dropped;
}

/// Cuts `bytes` by `excess`, or to nothing. Returns the size before, or nullopt if nothing was cut.
std::optional<std::size_t> shorten(std::optional<std::string>& bytes, std::size_t excess) {
  const auto before = bytes ? bytes->size() : 0;
  if (excess == 0 || before == 0) return {};
  bytes->resize(before - std::min(excess, before));
  return before;
}

}  // namespace

std::size_t record_bytes(std::optional<std::string_view> key, std::optional<std::string_view> value,
                         const Headers& headers) {
  std::size_t bytes = frame_bytes;
  if (key) bytes += key->size();
  if (value) bytes += value->size();
  for (const Header& header : headers) bytes += header_bytes(header);
  return bytes;
}

DeadLetterContent cut_to_fit(DeadLetterContent content, std::size_t max_bytes) {
  const auto limit = std::max(max_bytes, least_record_limit);
  if (record_bytes(content.key, content.value, content.headers) <= limit) return content;
  const auto excess = [&](std::optional<std::string_view> value) {
    const auto bytes = record_bytes(content.key, value, content.headers) + counts_bytes;
    return bytes > limit ? bytes - limit : 0;
  };
  const auto dropped = drop_largest(content.headers, excess({}));
  const auto key_bytes = shorten(content.key, excess({}));
  const auto value_bytes = shorten(content.value, excess(content.value));
  if (value_bytes) set_size(content.headers, header::truncated, *value_bytes);
  if (dropped > 0) add_count(content.headers, header::dropped_headers, dropped);
  if (key_bytes) set_size(content.headers, header::key_truncated, *key_bytes);
  return content;
}

}  // namespace laneway::delivery
