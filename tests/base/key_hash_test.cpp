#include "base/key_hash.h"

#include "catch.h"

using namespace laneway;

TEST_CASE("keys are hashed by FNV-1a") {
  CHECK(key_hash("") == 0xcbf29ce484222325ULL);  // the values of draft-eastlake-fnv
  CHECK(key_hash("a") == 0xaf63dc4c8601ec8cULL);
  CHECK(key_hash("foobar") == 0x85944171f73967e8ULL);
}
