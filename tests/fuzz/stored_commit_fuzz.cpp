// Any bytes as the text of a commit: it is read without a fault, and what is read is written again so that it
// reads the same. First byte: the committed offset; the rest: the text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lane/commit/stored_commit.h"

using namespace laneway::lane;

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

void check_map(const StoredCommit& commit) {
  must(commit.map.base == commit.offset);
  must(commit.map_error.empty() || commit.map.runs.empty());
  auto end = commit.offset;
  for (const auto& run : commit.map.runs) {
    must(run.begin >= end && run.begin < run.end);
    end = run.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto commit = StoredCommit::read({{"orders", 3}, data[0], text});
  check_map(commit);
  const auto written = commit.written(8 * max_map_bytes, true);
  must(written.offset == commit.offset);
  const auto again = StoredCommit::read(written);
  must(again.lives == commit.lives && again.suspension == commit.suspension);
  must(again.suspects == commit.suspects && again.map == commit.map && again.map_error.empty());
  if (again.map.runs.empty() && commit.suspects.empty()) return 0;
  must(again.log.topic == commit.log.topic);
  if (commit.log.topic.empty()) must(again.log.cluster == commit.log.cluster);
  return 0;
}
