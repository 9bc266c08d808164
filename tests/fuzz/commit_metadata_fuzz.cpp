// Any bytes as the metadata of a commit: it is read without a fault, and what is read is written again so
// that it reads the same. First byte: the committed offset; the rest: the metadata.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lane/commit/commit_metadata.h"
#include "lane/ledger/completion_map.h"

using namespace laneway::lane;

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

void check_map(std::string_view text, std::int64_t base) {
  const auto decoded = decode(text, base);
  must(decoded.map.has_value() == decoded.reason.empty());
  if (!decoded.map) return;
  auto end = base;
  for (const auto& run : decoded.map->runs) {
    must(run.begin >= end && run.begin < run.end);
    end = run.end;
  }
  must(decode(encode(*decoded.map, max_map_bytes), base).map == decoded.map);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto metadata = read_metadata(text);
  must(text.ends_with(metadata.map));
  const auto again = read_metadata(fields_of(metadata) + metadata.map);
  must(again.lives == metadata.lives && again.map == metadata.map);
  must(again.log.topic == metadata.log.topic);
  if (metadata.log.topic.empty()) must(again.log.cluster == metadata.log.cluster);
  check_map(metadata.map, data[0]);
  return 0;
}
