#include "telemetry/escape.h"

#include <string>

#include "catch.h"

using namespace laneway;

TEST_CASE("an excerpt is the escaped beginning of the bytes, and shows that more follows") {
  CHECK(telemetry::excerpt("") == "");
  CHECK(telemetry::excerpt("a\nb", 3) == "a\\nb");
  CHECK(telemetry::excerpt("\x1b[1m", 1) == "\\x1b...");
  CHECK(telemetry::excerpt(std::string(201, 'x')) == std::string(200, 'x') + "...");
}
