// Any bytes as a configuration file: a configuration, or errors that are safe to print, one line each.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/loader.h"

using namespace laneway;

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

bool is_one_line(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7F; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  config::Source source{"f.yaml", {}, {{"NAME", "value"}}};
  source.runs_handler = false;  // programs of a random name are not looked up
  const auto loaded = config::load_text({reinterpret_cast<const char*>(data), size}, source);
  must(loaded.config.has_value() == loaded.errors.empty());
  for (const Error& error : loaded.errors) {
    must(error.message.starts_with("f.yaml") && is_one_line(error.text()));
  }
  return 0;
}
