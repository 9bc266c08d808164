// Short ways to load a text in the tests of this folder.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "config/loader.h"
#include "folders.h"

inline std::string example_path(const std::string& name) {
  return laneway::source_folder() + "/config/" + name;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

/// A right configuration whose text is 6 lines long, to add to.
inline const std::string base =
    "kafka:\n"
    "  bootstrap.servers: 127.0.0.1:9092\n"
    "  group.id: orders\n"
    "topics: [orders]\n"
    "handler:\n"
    "  log: {}\n";

inline laneway::config::Loaded loaded(const std::string& text,
                                      std::map<std::string, std::string> environment = {},
                                      std::vector<std::string> sets = {}) {
  return laneway::config::load_text(text, {"f.yaml", std::move(sets), std::move(environment)});
}

/// As a process reads a text whose programs and scripts do not exist here.
inline laneway::config::Loaded loaded_without_programs(const std::string& text) {
  laneway::config::Source source{"f.yaml", {}, {}};
  source.runs_handler = false;
  return laneway::config::load_text(text, source);
}

/// All messages, a line each, as a person reads them; empty when there are none.
inline std::string errors_of(const std::string& text, std::map<std::string, std::string> environment = {},
                             std::vector<std::string> sets = {}) {
  return laneway::config::report(loaded(text, std::move(environment), std::move(sets)).errors);
}
