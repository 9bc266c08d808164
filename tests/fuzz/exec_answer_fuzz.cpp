// Any bytes as an answer of a program of handler.exec: an outcome or an error, either safe to print.
// First byte: the framing; the rest: the frame.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "handler/exec_answer.h"

using namespace laneway;

namespace {

bool printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7F; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto framing = data[0] % 2 == 0 ? config::Framing::json : config::Framing::binary;
  const std::string_view frame(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto outcome = handler::exec_answer(framing, frame, 7);
  const std::string& text = outcome ? outcome->reason : outcome.error().message;
  if (!printable(text) || text.size() > 4096 + 200) std::abort();
  if (outcome && outcome->after && (*outcome->after < Duration::zero() || *outcome->after > seconds(86400)))
    std::abort();
  return 0;
}
