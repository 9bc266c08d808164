// Any bytes as what a program of handler.exec writes: cut into the same frames in one piece and in many, and
// what is kept is bounded. First byte: the framing; second: the size of the pieces; the rest: the stream.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "handler/exec/exec_frame.h"

using namespace laneway;
using handler::ExecFrameReader;

namespace {

struct Cut {
  std::vector<std::string> frames;
  bool too_long = false;
  bool operator==(const Cut&) const = default;
};

Cut cut(config::Framing framing, std::string_view stream, std::size_t piece) {
  Cut found;
  ExecFrameReader reader(framing);
  for (std::size_t at = 0; at < stream.size() && !found.too_long; at += piece) {
    reader.feed(stream.substr(at, piece));
    for (; reader.state() == ExecFrameReader::State::complete; reader.take())
      found.frames.emplace_back(reader.frame());
    found.too_long = reader.state() == ExecFrameReader::State::too_long;
    if (!found.too_long && reader.pending().size() > handler::longest_exec_answer + 4) std::abort();
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto framing = data[0] % 2 == 0 ? config::Framing::json : config::Framing::binary;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (cut(framing, stream, stream.size()) != cut(framing, stream, 1U + data[1])) std::abort();
  return 0;
}
