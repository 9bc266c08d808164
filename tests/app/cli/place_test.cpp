// The notation of topics, partitions and records on the command line.
#include "app/cli/place.h"

#include "catch.h"

using namespace laneway::cli;

TEST_CASE("place: a topic, a partition and a record are read in the notation of laneway and of other tools") {
  struct Row {
    const char* given;
    const char* meant;
  };
  for (const auto& row :
       {Row{"orders", "orders"}, Row{"orders:2", "orders:2"}, Row{"orders:2:40", "orders:2:40"},
        Row{"orders[2]", "orders:2"}, Row{"orders[2]@40", "orders:2:40"},
        Row{"a.b_c-D:0:9223372036854775807", "a.b_c-D:0:9223372036854775807"}}) {
    INFO(row.given);
    const auto place = parse_place(row.given);
    REQUIRE(place);
    CHECK(text_of(*place) == row.meant);
  }
}

TEST_CASE("place: text that is not a place is refused") {
  for (const char* wrong : {"",
                            ":",
                            ":2",
                            "orders:",
                            "orders:x",
                            "orders:-1",
                            "orders:2:",
                            "orders:2:x",
                            "orders:2:40:1",
                            "orders:2:40:",
                            "or ders",
                            "orders/2",
                            "orders[2",
                            "orders]2[",
                            "orders[2]40",
                            "orders[2]@",
                            "orders[2]:40",
                            "orders[]",
                            "orders:99999999999",
                            "orders:2:9223372036854775808",
                            "orders@40"}) {
    INFO(wrong);
    CHECK_FALSE(parse_place(wrong));
  }
}
