// A library that laneway uses, for `laneway version`.
#pragma once

#include <string>

namespace laneway {

struct Library {
  std::string name;
  std::string version;
};

}  // namespace laneway
