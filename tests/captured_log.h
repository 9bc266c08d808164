// What is logged, for tests that look at it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "catch.h"
#include "telemetry/log.h"

namespace laneway {

/// The log goes into a file for the life of this.
class CapturedLog {
 public:
  CapturedLog() : file_(std::tmpfile()) {
    REQUIRE(file_ != nullptr);
    telemetry::set_up_log(telemetry::Level::info, telemetry::Format::text, ::fileno(file_));
  }
  ~CapturedLog() {
    telemetry::set_up_log(telemetry::Level::info, telemetry::Format::text, 2);
    std::fclose(file_);
  }
  CapturedLog(const CapturedLog&) = delete;

  /// How many lines hold all these words.
  int lines(const std::vector<std::string>& words) const {
    int count = 0;
    const auto text = this->text();
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const auto line = text.substr(at, end - at);
      count += std::all_of(words.begin(), words.end(),
                           [&](const auto& word) { return line.find(word) != std::string::npos; });
      at = end + 1;
    }
    return count;
  }

 private:
  std::string text() const {
    std::string all(1 << 20, '\0');
    const auto size = ::pread(::fileno(file_), all.data(), all.size(), 0);
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return all;
  }
  std::FILE* file_;
};

}  // namespace laneway
