#include "base/big_endian.h"

#include <rapidcheck.h>

#include <cstdint>
#include <string>

#include "catch.h"

using namespace laneway;

TEST_CASE("the most significant byte comes first") {
  std::string bytes = "x";
  append_big_endian(bytes, std::uint32_t{0x01020304});
  append_big_endian(bytes, std::uint16_t{0xFFFE});
  CHECK(bytes == "x\x01\x02\x03\x04\xff\xfe");
  CHECK(read_big_endian<std::uint32_t>(bytes.substr(1)) == 0x01020304);
  CHECK(read_big_endian<std::uint16_t>(bytes.substr(5)) == 0xFFFE);
}

TEST_CASE("reading returns the numbers that were written") {
  REQUIRE(rc::check([](std::uint64_t number) {
    std::string bytes;
    append_big_endian(bytes, number);
    RC_ASSERT(read_big_endian<std::uint64_t>(bytes) == number);
  }));
}
