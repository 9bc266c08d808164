// Plays stories side by side, and cuts a story that fails down to a smaller one that still breaks one of the
// same rules. Blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stories/children.h"
#include "stories/play.h"

namespace laneway::stories {

/// How many are played at once; they wait most of the time.
std::size_t side_by_side();

/// Prints a line about the story if LANEWAY_TELL is set.
void tell(const Story& story, const Result& result);

/// Plays one story; nullopt if it could not be judged. Called on several threads at a time.
using Player = std::function<std::optional<Result>(const Story&)>;

/// Plays all of them; `ended` is called for each that could be judged, one at a time. Stops early when it
/// returns false.
void play_all(const std::vector<Story>& stories,
              const std::function<bool(const Story&, const Result&)>& ended,
              const Player& player = play_in_child);

/// A story that still fails, with as few parts as were found within this time.
struct Smallest {
  Story story;
  Result result;
};
Smallest shrink(const Story& story, const Result& result, Duration within,
                const Player& player = play_in_child);

/// The story, the rules that it broke, and what it was cut down to.
std::string report(const Story& story, const Result& result, Duration within);

}  // namespace laneway::stories
