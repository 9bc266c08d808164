// Work that does as a file says, for outages. The file holds `work`, `throw`, `retry` or `hang` (until the
// attempt is stopped), and is read at each record.
#pragma once

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>

#include "laneway/plugin.hpp"

inline laneway::Answer as_told(const std::string& path, const laneway::Record& record) {
  std::string mode;
  std::ifstream(path) >> mode;
  if (mode == "throw") throw std::runtime_error("the database is down");
  if (mode == "retry") return laneway::Answer::retry("the database is down");
  if (mode == "hang")
    while (!record.wait(std::chrono::milliseconds(1000))) {
    }
  return record.stop_requested() ? laneway::Answer::retry("stopped") : laneway::Answer::done();
}
