#include "stories/children.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace laneway::stories {
namespace {

constexpr int longest_s = 240;
constexpr std::string_view figures = "STORY-FIGURES ", breach = "STORY-BREACH ", end = "STORY-END";

std::string this_program() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// What the shell reports about the child: 124 is of `timeout`, and a signal has its number and 128.
std::string text_of_status(int status) {
  constexpr int of_signals = 128;
  const int code = WIFSIGNALED(status) ? of_signals + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 124) return "did not end within " + std::to_string(longest_s) + " s";
  if (code > of_signals) return "was ended by signal " + std::to_string(code - of_signals);
  return "ended with exit status " + std::to_string(code);
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

std::string text_of_bad_end(const std::string& output, int status) {
  constexpr std::size_t most = 4000;
  const auto text = [&](const char* when, const std::string& rest) {
    return "the process " + text_of_status(status) + when + rest;
  };
  if (const auto report = output.find("Sanitizer"); report != std::string::npos) {
    const auto line = output.rfind('\n', report) + 1;
    return text(", and reported: ", output.substr(line, most));
  }
  const auto tail = [&](const std::string& all) {
    return all.substr(all.size() - std::min(all.size(), most));
  };
  const auto over = output.find(end);
  if (over == std::string::npos) return text(" before the story was over; its output: ", tail(output));
  return text(" after the story was over; its output since: ",
              tail(output.substr(std::min(output.size(), over + end.size() + 1))));
}

std::optional<Result> play_in_child(const Story& story) {
  // A member that hangs in the client is left behind with its threads (play.h).
  const auto command = "LANEWAY_STORY='" + story.name +
                       "' TSAN_OPTIONS=\"report_thread_leaks=0:$TSAN_OPTIONS\" timeout -k 5 " +
                       std::to_string(longest_s) + " '" + this_program() + "' '[child]' 2>&1";
  std::FILE* child = ::popen(command.c_str(), "r");
  if (child == nullptr) return Result{{{"it begins", "no process can be started"}}, "", false};
  std::string output;
  std::array<char, 4096> buffer{};
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), child))
    output.append(buffer.data(), count);
  const int status = ::pclose(child);
  Result result;
  const bool whole = read(output, result);
  if (!whole && output.find("rdkafka_mock") != std::string::npos) return std::nullopt;
  if (!whole || status != 0)
    result.breaches.push_back({"the process lives", text_of_bad_end(output, status)});
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
  if (result.left_behind) ::_exit(0);
}

}  // namespace laneway::stories
