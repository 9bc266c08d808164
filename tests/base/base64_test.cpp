#include "base/base64.h"

#include <rapidcheck.h>

#include <string>

#include "catch.h"

using namespace laneway;

TEST_CASE("base64 has the encoding of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64(std::string("\xff\xfe\xfb\0", 4)) == "//77AA==");
}

TEST_CASE("base64url has no padding and two digits of its own") {
  const auto coded = [](std::string_view bytes) {
    std::string out = "prefix:";
    append_base64url(out, bytes);
    return out;
  };
  CHECK(coded("") == "prefix:");
  CHECK(coded("f") == "prefix:Zg");
  CHECK(coded("fo") == "prefix:Zm8");
  CHECK(coded(std::string("\xff\xfe\xfb\0", 4)) == "prefix:__77AA");
}

TEST_CASE("decoding returns the bytes that base64url encoded") {
  REQUIRE(rc::check([](const std::string& bytes) {
    std::string coded;
    append_base64url(coded, bytes);
    RC_ASSERT(decode_base64url(coded) == bytes);
  }));
}

TEST_CASE("text that base64url never writes is refused") {
  CHECK(decode_base64url("") == "");
  CHECK_FALSE(decode_base64url("Z"));     // six bits are no byte
  CHECK_FALSE(decode_base64url("Zh"));    // the bits behind the byte are not zero
  CHECK_FALSE(decode_base64url("Zg=="));  // padding
  CHECK_FALSE(decode_base64url("//77"));  // digits of the other alphabet
}

TEST_CASE("base64 is read with or without padding, and any other text is refused") {
  REQUIRE(rc::check([](const std::string& bytes) {
    auto coded = base64(bytes);
    RC_ASSERT(decode_base64(coded) == bytes);
    while (coded.ends_with('=')) coded.pop_back();
    RC_ASSERT(decode_base64(coded) == bytes);
  }));
  for (const char* wrong : {"=", "Zg=", "Zg===", "Z=g=", "Zg==\n", "Zh==", "_-8="}) {
    INFO(wrong);
    CHECK_FALSE(decode_base64(wrong));
  }
}
