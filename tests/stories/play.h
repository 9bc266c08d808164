// Plays a story on an embedded cluster of its own, and judges it. Any thread; several stories are played side
// by side in one process. Blocks until the story has ended: seconds, a minute if it is broken.
#pragma once

#include <string>
#include <vector>

#include "stories/facts.h"
#include "stories/story.h"

namespace laneway::stories {

struct Result {
  std::vector<Breach> breaches;
  std::string figures;
  /// A member hangs in the client: its threads and all that they use stay, and the process must end without
  /// destroying anything, as the program does.
  bool left_behind = false;
};

Result play(const Story& story);

}  // namespace laneway::stories
