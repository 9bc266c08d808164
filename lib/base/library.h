// A library that laneway stands on, for `laneway version`.
#pragma once

#include <string>

namespace laneway {

struct Library {
  std::string name;
  std::string version;
};

}  // namespace laneway
