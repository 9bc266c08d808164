// Programs for the exec handler's tests: scripts in a folder of their own, and what they leave behind.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "catch.h"
#include "eventually.h"
#include "handler/registry.h"
#include "handler/run.h"

namespace laneway::handler {

/// A folder that goes away, with the scripts of a test.
class Scripts {
 public:
  Scripts() {
    std::string pattern = "/tmp/laneway-exec-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Scripts() { std::filesystem::remove_all(folder_); }
  Scripts(const Scripts&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream(path(name)).rdbuf();
    return content.str();
  }
  /// Settings for a script in Python. Its `done()` answers; its `record` is the one to be handled.
  config::ExecSettings python(const std::string& body, Duration timeout = seconds(60)) const {
    const std::string head =
        "import json, os, signal, subprocess, sys, time\n"
        "def answer(**fields):\n"
        "    sys.stdout.write(json.dumps(fields) + '\\n')\n"
        "    sys.stdout.flush()\n"
        "def write(text):\n"
        "    sys.stdout.write(text)\n"
        "    sys.stdout.flush()\n";
    config::ExecSettings settings;
    settings.command = {"/usr/bin/python3", write("program.py", head + body), folder_};
    settings.timeout = timeout;
    return settings;
  }
  /// For each record the lines of `body`.
  config::ExecSettings python_loop(const std::string& body, Duration timeout = seconds(60)) const {
    std::istringstream lines(body);
    std::string loop = "for line in sys.stdin:\n    record = json.loads(line)\n";
    for (std::string line; std::getline(lines, line);) loop += "    " + line + "\n";
    return python(loop, timeout);
  }

 private:
  std::string folder_;
};

inline std::unique_ptr<Handler> made(const config::ExecSettings& settings) {
  auto handler = make_handler(config_with(settings));
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

template <class Condition>
bool comes_true(const Condition& condition) {
  return eventually(condition);
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// Neither running nor dead and not reaped.
inline bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

inline bool is_running(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace laneway::handler
