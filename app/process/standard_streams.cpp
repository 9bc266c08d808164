#include "app/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace laneway::app {

/// open() returns the lowest free number.
bool open_standard_streams() {
  for (;;) {
    const int opened = ::open("/dev/null", O_RDWR);  // without O_CLOEXEC: children have these three as well
    if (opened < 0) return false;
    if (opened <= STDERR_FILENO) continue;
    ::close(opened);
    return true;
  }
}

}  // namespace laneway::app
