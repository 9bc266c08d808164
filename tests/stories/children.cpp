#include "stories/children.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace laneway::stories {
namespace {

constexpr std::string_view figures = "STORY-FIGURES ", breach = "STORY-BREACH ", end = "STORY-END";

std::string this_program() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// The last part of the output of a child that ended badly.
std::string tail_of(const std::string& output) {
  constexpr std::size_t most = 4000;
  return output.size() > most ? output.substr(output.size() - most) : output;
}

/// The result that the child printed; true if it printed all of it.
bool read(const std::string& output, Result& result) {
  for (std::size_t at = 0; at < output.size();) {
    const auto next = std::min(output.find('\n', at), output.size());
    const auto line = output.substr(at, next - at);
    at = next + 1;
    if (line.starts_with(end)) return true;
    if (line.starts_with(figures)) result.figures = line.substr(figures.size());
    if (!line.starts_with(breach)) continue;
    const auto rest = line.substr(breach.size());
    const auto tab = rest.find('\t');
    result.breaches.push_back({rest.substr(0, tab), tab == std::string::npos ? "" : rest.substr(tab + 1)});
  }
  return false;
}

}  // namespace

std::optional<Result> play_in_child(const Story& story) {
  const auto command =
      "LANEWAY_STORY='" + story.name + "' timeout -k 5 240 '" + this_program() + "' '[child]' 2>&1";
  std::FILE* child = ::popen(command.c_str(), "r");
  if (child == nullptr) return Result{{{"it begins", "no process can be started"}}, ""};
  std::string output;
  std::array<char, 4096> buffer{};
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), child))
    output.append(buffer.data(), count);
  const int status = ::pclose(child);
  Result result;
  const bool whole = read(output, result);
  if (!whole && output.find("rdkafka_mock") != std::string::npos) return std::nullopt;
  if (!whole || status != 0)
    result.breaches.push_back({"the process lives", "it ended badly: " + tail_of(output)});
  return result;
}

void play_as_child() {
  const char* name = std::getenv("LANEWAY_STORY");
  if (name == nullptr) return;
  const auto result = play(Story::named(name));
  const auto print = [](std::string_view what, const std::string& text) {
    std::printf("%.*s%s\n", static_cast<int>(what.size()), what.data(), text.c_str());
  };
  print(figures, result.figures);
  for (const auto& found : result.breaches) print(breach, found.rule + "\t" + found.sentence);
  print(end, "");
  std::fflush(stdout);
}

}  // namespace laneway::stories
