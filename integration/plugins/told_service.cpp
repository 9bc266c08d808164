// A program with laneway in it that does as a file says (told.h): told_service MODE_FILE run -c CONFIGURATION
#include "laneway/laneway.hpp"
#include "told.h"

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  laneway::Options options;
  options.file = argv[4];
  options.timeout = std::chrono::seconds(1);
  const std::string mode = argv[1];
  laneway::Service service(options, [&](const laneway::Record& record) { return as_told(mode, record); });
  return service.run();
}
