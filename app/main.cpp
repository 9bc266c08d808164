#include <csignal>
#include <cstdio>
#include <exception>

#include "app/command_line.h"
#include "app/exit_code.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(2), not our end
  try {
    return laneway::app::command_line(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "laneway: internal error: %s (this is a defect of laneway; please report it)\n",
                 error.what());
  } catch (...) {
    std::fprintf(stderr,
                 "laneway: internal error of unknown type (this is a defect of laneway; please report it)\n");
  }
  return laneway::app::exit_code::internal;
}
