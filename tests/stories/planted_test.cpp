// Bugs that are planted into the behaviour of the service (bugs.h): stories find each of them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "catch.h"
#include "stories/shrink.h"

using namespace laneway;
using namespace laneway::stories;

namespace {

constexpr std::uint64_t most_stories = 30;  // for each bug; nearly all need one or two

}  // namespace

TEST_CASE("stories find each planted bug") {
  std::vector<Bug> left;
  for (int i = 1; i < bugs; ++i) left.push_back(static_cast<Bug>(i));
  for (std::uint64_t seed = 1; seed <= most_stories && !left.empty(); ++seed) {
    std::vector<Story> stories;
    for (const auto bug : left) stories.push_back(Story::with(bug, seed));
    play_all(stories, [&](const Story& story, const Result& result) {
      if (!result.breaches.empty()) std::erase(left, story.bug);
      tell(story, result);
      return true;
    });
  }
  for (const auto bug : left) FAIL_CHECK("no story found the planted bug: " << name_of(bug));
  SUCCEED(bugs - 1 << " planted bugs");
}
