// What brokers and the client read alike in a pattern, and what they do not.
#include "config/rules/broker_pattern.h"

#include "catch.h"

using laneway::config::check_broker_pattern;

TEST_CASE("patterns that brokers read as the client does") {
  for (const char* pattern :
       {"^orders", "^orders$", "^(orders|payments.*)$", "^orders\\.eu-[0-9]+", "^[[:alpha:]]{2,3}-?x*$",
        "^a|b$", "^[^.]+$", "^a[.-]b", "^[*?]a", "^[[:digit:]*?]", "^[a\\.]", "^a{2,}", "^a\\-b"}) {
    CAPTURE(pattern);
    CHECK(check_broker_pattern(pattern).empty());
  }
}

TEST_CASE("patterns that brokers read differently are told with what is different") {
  CHECK(check_broker_pattern("^orders-\\d+") ==
        "\"\\\\d\" means something else for brokers than for the client");
  for (const char* pattern : {"^(?i)orders", "^(a)\\1", "^a\\>", "^[[.a.]]", "^a++", "^a*?", "^a{2}+",
                              "^a{,3}", "^[a\\-z]", "^[\\]a]"}) {
    CAPTURE(pattern);
    CHECK_FALSE(check_broker_pattern(pattern).empty());
  }
}
