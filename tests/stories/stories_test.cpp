// Random stories: each has a configuration, a load and faults of its own, and all keep the same promises.
// LANEWAY_SEEDS=1000 plays more of them, LANEWAY_FIRST_SEED=n begins elsewhere, LANEWAY_TELL=1 tells of each.
// A story that fails is printed in plain words and cut down to a smaller one, for LANEWAY_SHRINK seconds.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "captured_log.h"
#include "catch.h"
#include "stories/children.h"
#include "stories/shrink.h"

using namespace laneway;
using namespace laneway::stories;

namespace {

constexpr std::size_t most_broken = 5;  // which are cut down

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("every story loses nothing, explains everything, and ends with a working service") {
  const auto first = from_environment("LANEWAY_FIRST_SEED", 1);
  const auto seeds = from_environment("LANEWAY_SEEDS", 150);
  const auto shrink = seconds(from_environment("LANEWAY_SHRINK", 60));
  std::vector<Story> stories;
  for (auto seed = first; seed < first + seeds; ++seed) stories.push_back(Story::draw(seed));
  std::vector<std::pair<Story, Result>> broken;
  std::size_t judged = 0;
  play_all(stories, [&](const Story& story, const Result& result) {
    tell(story, result);
    ++judged;
    if (!result.breaches.empty()) broken.emplace_back(story, result);
    return broken.size() < most_broken;
  });
  for (const auto& [story, result] : broken) FAIL_CHECK(report(story, result, shrink));
  // The others ended with their embedded clusters (children.h).
  if (broken.empty()) CHECK(judged * 10 >= seeds * 9);
}

TEST_CASE("a process that ends badly is reported with its status and its last output") {
  const std::string over = "Filters: [child]\nSTORY-FIGURES 384 records\nSTORY-END\n";
  CHECK(text_of_bad_end(over + "the rest", 3 << 8) ==
        "the process ended with exit status 3 after the story was over; its output since: the rest");
  CHECK(text_of_bad_end("Filters: [child]", 11) ==
        "the process was ended by signal 11 before the story was over; its output: Filters: [child]");
  CHECK(text_of_bad_end(over, (128 + 11) << 8) ==
        "the process was ended by signal 11 after the story was over; its output since: ");
  CHECK(text_of_bad_end("", 124 << 8) ==
        "the process did not end within 240 s before the story was over; its output: ");
  const auto report = text_of_bad_end("before\nWARNING: ThreadSanitizer: data race\nwhere\n" + over, 66 << 8);
  CHECK(report ==
        "the process ended with exit status 66, and reported: WARNING: ThreadSanitizer: data race\n"
        "where\n" +
            over);
}

TEST_CASE("a story runs in a process of its own", "[.][child]") {
  const CapturedLog log;
  play_as_child();
}
