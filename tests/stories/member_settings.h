// The settings of a story's members. Pure.
#pragma once

#include <string>

#include "config/config.h"
#include "stories/story.h"

namespace laneway::stories {

/// What the members of a story have in common.
struct Group {
  std::string name;  ///< of the story: other stories of the process have others
  std::string source;
  std::string bootstrap;
};

config::Config settings_of(const Story& story, const Group& group, const std::string& member);

}  // namespace laneway::stories
