#include "lane/state/hold_reasons.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "catch.h"
#include "folders.h"

using namespace laneway;
using namespace laneway::lane;

TEST_CASE("each hold reason has words and a code of its own, and troubleshooting.md explains them") {
  std::ifstream file(source_folder() + "/docs/troubleshooting.md");
  std::stringstream page;
  page << file.rdbuf();
  REQUIRE_FALSE(page.str().empty());
  std::set<std::string_view> words, codes;
  for (const auto& reason : hold_reasons) {
    INFO(reason.words);
    CHECK(page.str().find("\n| `" + std::string(reason.words) + "` |") != std::string::npos);
    CHECK(words.insert(reason.words).second);
    CHECK(codes.insert(reason.code).second);
  }
}

TEST_CASE("a lane stays paused for reasons that its workers do not end by finishing records") {
  CHECK(reasons_that_last() == (bit(Hold::window_full) | bit(Hold::memory_full) | bit(Hold::retries_full) |
                                bit(Hold::breaker_open) | bit(Hold::map_full) | bit(Hold::suspended)));
}
