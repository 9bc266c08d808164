#include "handler/format/json_field.h"

#include "catch.h"

using laneway::handler::text_at;

TEST_CASE("the pointer finds a text") {
  const std::string order = R"({"type": "paid", "of": {"kinds": ["a", "b/c"], "x/y": "slash", "": "empty"}})";
  CHECK(text_at(order, "/type") == "paid");
  CHECK(text_at(order, "/of/kinds/1") == "b/c");
  CHECK(text_at(order, "/of/x~1y") == "slash");
  CHECK(text_at(order, "/of/") == "empty");
  CHECK(text_at(R"({"type": "caf\u00e9"})", "/type") == "caf\u00e9");
}

TEST_CASE("the pointer finds nothing if there is no text") {
  for (const char* document : {"", "paid", "{", R"({"type": 1})", R"({"type": null})", R"({"type": ["a"]})",
                               R"([{"type": "a"}])", R"({"Type": "a"})", "\"type\"", "\xff\xfe", "[1, 2]"})
    CHECK(text_at(document, "/type") == std::nullopt);
  for (const char* pointer : {"/0/type/x", "/-", "/00", "/99999999999999999999", "/1"})
    CHECK(text_at(R"([{"type": "a"}])", pointer) == std::nullopt);
  CHECK(text_at(std::string(1'000'000, '['), "/type") == std::nullopt);
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK(text_at("{\"of\":" + deep + ",\"type\":\"paid\"}", "/type") == std::nullopt);
  CHECK(text_at(std::string(100'000, '[') + std::string(100'000, ']'), "/0") == std::nullopt);
}
