// A folder that goes away with the files of subscribers in it.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"

namespace laneway::handler {

class SubscriberFolder {
 public:
  SubscriberFolder() {
    std::string pattern = "/tmp/laneway-subscribers-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~SubscriberFolder() { std::filesystem::remove_all(folder_); }
  SubscriberFolder(const SubscriberFolder&) = delete;

  /// Replaces the file as an editor does, so that it has another number.
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const auto path = folder_ + "/" + name;
    const auto next = path + ".new";
    std::ofstream(next) << text;
    ::chmod(next.c_str(), mode);
    std::filesystem::rename(next, path);
    return path;
  }

 private:
  std::string folder_;
};

}  // namespace laneway::handler
