#include "lane/ledger/completion_map.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/base64.h"

namespace laneway::lane {
namespace {

constexpr std::string_view prefix = "laneway1:";
constexpr std::size_t checksum_bytes = 4;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[byte] = crc;
  }
  return table;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0) {
  static constexpr auto table = make_crc_table();
  crc = ~crc;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

std::uint32_t checksum(std::string_view body) { return crc32c(body, crc32c(prefix)); }

std::size_t text_size(std::size_t bytes) { return prefix.size() + (bytes * 8 + 5) / 6; }

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
}

/// Takes a varint off the front; nullopt if it is cut short or above the range of offsets.
std::optional<std::int64_t> take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return static_cast<std::int64_t>(value);
  }
  return {};
}

/// The runs in `in`, which must hold nothing else; nullopt if encode() would not have written them.
std::optional<std::vector<OffsetRun>> take_runs(std::string_view in, std::int64_t base) {
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  std::vector<OffsetRun> runs;
  std::int64_t end = base;
  while (!in.empty()) {
    const auto gap = take_varint(in);
    const auto length = take_varint(in);
    if (!gap || !length || *length == 0 || (*gap == 0 && !runs.empty())) return {};
    if (*length > last - end - *gap) return {};  // also if the gap alone is too long
    runs.push_back({end + *gap, end + *gap + *length});
    end = runs.back().end;
  }
  return runs;
}

DecodedMap refused(std::string reason) {
  return {std::nullopt, "completion map ignored: " + std::move(reason)};
}

}  // namespace

bool CompletionMap::contains(std::int64_t offset) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), offset,
                                      [](std::int64_t o, const OffsetRun& run) { return o < run.end; });
  return after != runs.end() && after->begin <= offset;
}

std::string encode(const CompletionMap& map, std::size_t max_bytes) {
  if (map.base < 0) return {};
  std::string body;
  put_varint(body, static_cast<std::uint64_t>(map.base));
  const auto without_runs = body.size();
  const auto limit = std::min(max_bytes, max_map_bytes);
  auto end = map.base;
  for (const auto& run : map.runs) {
    const auto before = body.size();
    put_varint(body, static_cast<std::uint64_t>(run.begin - end));
    put_varint(body, static_cast<std::uint64_t>(run.end - run.begin));
    if (text_size(body.size() + checksum_bytes) > limit) {
      body.resize(before);
      break;
    }
    end = run.end;
  }
  if (body.size() == without_runs) return {};
  const auto crc = checksum(body);
  for (unsigned shift = 0; shift < 32; shift += 8) body.push_back(static_cast<char>((crc >> shift) & 0xFF));
  std::string text(prefix);
  text.reserve(text_size(body.size()));
  append_base64url(text, body);
  return text;
}

DecodedMap decode(std::string_view text, std::int64_t base) {
  if (text.empty()) return {CompletionMap{base, {}}, {}};
  if (text.substr(0, prefix.size()) != prefix) return refused("not written by this version of laneway");
  if (text.size() > max_map_bytes) return refused("longer than " + std::to_string(max_map_bytes) + " bytes");
  const auto bytes = decode_base64url(text.substr(prefix.size()));
  if (!bytes || bytes->size() <= checksum_bytes) return refused("cut short or not base64url");

  std::string_view body(*bytes);
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < checksum_bytes; ++i)
    crc |= std::uint32_t{static_cast<unsigned char>(body[body.size() - checksum_bytes + i])} << (8 * i);
  body.remove_suffix(checksum_bytes);
  if (crc != checksum(body)) return refused("wrong checksum");

  const auto written_for = take_varint(body);
  if (!written_for) return refused("no base offset");
  if (*written_for != base)
    return refused("written for offset " + std::to_string(*written_for) + ", committed is " +
                   std::to_string(base));
  auto runs = take_runs(body, base);
  if (!runs) return refused("a run is cut short, empty or beyond the largest offset");
  return {CompletionMap{base, std::move(*runs)}, {}};
}

}  // namespace laneway::lane
