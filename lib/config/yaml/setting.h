// A setting as it was written: its name, its value and its place. Plain data.
#pragma once

#include <map>
#include <string>

#include "config/yaml/document.h"
#include "config/yaml/problem.h"

namespace laneway::config {

struct Setting {
  std::string path;  ///< dotted: lanes.workers, kafka.group.id
  Node value;
  SettingPlace place;
};

using Settings = std::map<std::string, Setting>;

}  // namespace laneway::config
