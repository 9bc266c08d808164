// Plays each story in a process of its own, which is this program again: a story that hangs, or whose
// embedded cluster ends the process (some assertions of the client library about it do not hold while members
// come and go), is one story less, and not the end of all. Any thread. Blocks.
#pragma once

#include <optional>
#include <string>

#include "stories/play.h"

namespace laneway::stories {

/// nullopt if the embedded cluster ended the process.
std::optional<Result> play_in_child(const Story& story);

/// How a child ended that printed `output`: its exit status or signal, whether the story was over, and the
/// part of the output that shows why. `status` is that of wait().
std::string text_of_bad_end(const std::string& output, int status);

/// The child's side: plays the story that the environment variable LANEWAY_STORY names, and prints the
/// result. Ends the process at once if the story left members behind.
void play_as_child();

}  // namespace laneway::stories
