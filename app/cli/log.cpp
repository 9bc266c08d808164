#include "app/cli/log.h"

#include <fcntl.h>
#include <unistd.h>

#include "telemetry/log.h"

namespace laneway::cli {

void set_up_log(bool shown) {
  const int nowhere = shown ? -1 : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  telemetry::set_up_log(telemetry::Level::warn, telemetry::Format::text,
                        nowhere < 0 ? STDERR_FILENO : nowhere);
}

}  // namespace laneway::cli
