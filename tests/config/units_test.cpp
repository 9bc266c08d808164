#include "config/units.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway;
using namespace laneway::config;

TEST_CASE("durations are read with their units") {
  CHECK(parse_duration("250us").value() == microseconds(250));
  CHECK(parse_duration("500ms").value() == milliseconds(500));
  CHECK(parse_duration("2s").value() == seconds(2));
  CHECK(parse_duration("1m").value() == std::chrono::minutes(1));
  CHECK(parse_duration("1h").value() == std::chrono::hours(1));
  CHECK(parse_duration("0s").value() == Duration::zero());
}

TEST_CASE("sizes are read with their binary units") {
  CHECK(parse_size("200B").value() == 200);
  CHECK(parse_size("64KiB").value() == 64 * 1024);
  CHECK(parse_size("1MiB").value() == 1 << 20);
  CHECK(parse_size("2GiB").value() == 2ULL << 30);
  CHECK(parse_size("16777215TiB").value() == 16777215ULL << 40);
}

TEST_CASE("text that is not a duration is refused with the reason") {
  const auto reason = [](const char* text) { return parse_duration(text).error().message; };
  CHECK(reason("") == "it is empty");
  CHECK(reason("20") == "it has no unit");
  CHECK(reason("-1s") == "it is negative");
  CHECK(reason("1.5s") == "it is not a whole number");
  CHECK(reason("s") == "it does not start with a number");
  CHECK(reason(" 1s") == "it does not start with a number");
  CHECK(reason("1 s") == "it has an unknown unit");
  CHECK(reason("1d") == "it has an unknown unit");
  CHECK(reason("1S") == "it has an unknown unit");
  CHECK(reason("1s1") == "it has an unknown unit");
  CHECK(reason("99999999999999999999s") == "it is too large");
  CHECK(reason("2562048h") == "it is too large");
  CHECK(parse_duration("2562047h").ok());
}

TEST_CASE("text that is not a size is refused, also with decimal units") {
  const auto reason = [](const char* text) { return parse_size(text).error().message; };
  CHECK(reason("1MB") == "it has an unknown unit");
  CHECK(reason("1024") == "it has no unit");
  CHECK(reason("16777216TiB") == "it is too large");
  CHECK(parse_size("1MB").error().text() ==
        "it has an unknown unit (a whole number with B, KiB, MiB, GiB or TiB, such as 64KiB or 1MiB)");
}

TEST_CASE("durations and sizes print in the largest exact unit") {
  CHECK(print_duration(Duration::zero()) == "0s");
  CHECK(print_duration(seconds(60)) == "1m");
  CHECK(print_duration(seconds(90)) == "90s");
  CHECK(print_duration(microseconds(1500)) == "1500us");
  CHECK(print_size(0) == "0B");
  CHECK(print_size(256ULL << 20) == "256MiB");
  CHECK(print_size(1025) == "1025B");
}

TEST_CASE("printing and reading are inverse") {
  REQUIRE(rc::check([](std::uint64_t bytes) { RC_ASSERT(parse_size(print_size(bytes)).value() == bytes); }));
  REQUIRE(rc::check([] {
    const auto count = *rc::gen::nonNegative<std::int64_t>();
    RC_ASSERT(parse_duration(print_duration(nanoseconds(count))).value() == nanoseconds(count));
  }));
}
