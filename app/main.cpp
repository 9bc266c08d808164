#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "app/command_line.h"
#include "app/exit_code.h"
#include "base/shortage.h"

namespace {

/// Opens /dev/null for each closed descriptor from 0 to 2: a parent may have closed some of them (`laneway
/// run 0<&- 1>&- 2>&-`, some supervisors), and the next file or socket would get such a number, and the text
/// for standard output or standard error. False, with errno, if /dev/null cannot be opened.
bool open_standard_streams() {
  int opened = 0;  // open() returns the lowest free number
  while (opened >= 0 && opened <= STDERR_FILENO)
    opened = ::open("/dev/null", O_RDWR);  // without O_CLOEXEC: children have these three as well
  return opened >= 0 && ::close(opened) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!open_standard_streams()) {
    std::fprintf(stderr, "laneway: cannot open /dev/null: %s\n", std::strerror(errno));
    return laneway::app::exit_code::unavailable;
  }
  std::signal(SIGPIPE, SIG_IGN);  // write(2) then returns an error if the reader has gone
  std::signal(SIGXFSZ, SIG_IGN);  // the same if a file may not become larger
  try {
    return laneway::app::command_line(argc, argv);
  } catch (const std::system_error& error) {
    if (const auto lacks = laneway::shortage_of(error.code().value())) {
      std::fprintf(stderr, "laneway: %s: %s\n", error.what(), lacks->c_str());
      return laneway::app::exit_code::unavailable;
    }
    std::fprintf(stderr, "laneway: internal error: %s (this is a defect of laneway; please report it)\n",
                 error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "laneway: %s\n", laneway::shortage_of(ENOMEM)->c_str());
    return laneway::app::exit_code::unavailable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "laneway: internal error: %s (this is a defect of laneway; please report it)\n",
                 error.what());
  } catch (...) {
    std::fprintf(stderr,
                 "laneway: internal error of unknown type (this is a defect of laneway; please report it)\n");
  }
  return laneway::app::exit_code::internal;
}
