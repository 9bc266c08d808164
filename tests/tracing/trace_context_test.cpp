#include "tracing/trace_context.h"

#include <rapidcheck.h>
#include <string>

#include "catch.h"

using namespace laneway::tracing;

namespace {

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string span = "00f067aa0ba902b7";

std::string header(const std::string& version, const std::string& flags, const std::string& rest = "") {
  return version + "-" + trace + "-" + span + "-" + flags + rest;
}

}  // namespace

TEST_CASE("a traceparent reads back unchanged") {
  const auto read = parse_traceparent(header("00", "01"));
  REQUIRE(read);
  CHECK(print_id(read->trace_id) == trace);
  CHECK(print_id(read->span_id) == span);
  CHECK(read->sampled);
  CHECK(print_traceparent(*read) == header("00", "01"));
  CHECK_FALSE(parse_traceparent(header("00", "00"))->sampled);
  CHECK_FALSE(parse_traceparent(header("00", "02"))->sampled);
  CHECK(parse_traceparent(header("00", "ff"))->sampled);
}

TEST_CASE("the known parts of a later version of traceparent are read") {
  CHECK(print_id(parse_traceparent(header("01", "01"))->trace_id) == trace);
  CHECK(parse_traceparent(header("cc", "01", "-what-the-future-brings")));
  CHECK_FALSE(parse_traceparent(header("cc", "01", "x")));
  CHECK_FALSE(parse_traceparent(header("00", "01", "-more")));
}

TEST_CASE("an invalid traceparent is ignored") {
  const std::string good = header("00", "01");
  for (std::size_t i = 0; i < good.size(); ++i) {
    INFO(i);
    CHECK_FALSE(parse_traceparent(good.substr(0, i)));
    for (const char wrong : {'G', 'g', 'A', ' ', '\0', good[i] == '-' ? '0' : '-'}) {
      auto changed = good;
      changed[i] = wrong;
      CHECK_FALSE(parse_traceparent(changed));
    }
  }
  CHECK_FALSE(parse_traceparent(header("ff", "01")));
  CHECK_FALSE(parse_traceparent("00-" + std::string(32, '0') + "-" + span + "-01"));
  CHECK_FALSE(parse_traceparent("00-" + trace + "-" + std::string(16, '0') + "-01"));
  CHECK_FALSE(parse_traceparent(" " + good));
  CHECK_FALSE(parse_traceparent(good + "\n"));
}

TEST_CASE("a printed traceparent reads back unchanged, whatever text it came from") {
  REQUIRE(rc::check([](std::array<std::uint8_t, 16> trace_id, std::array<std::uint8_t, 8> span_id,
                       bool sampled) {
    const TraceContext context{trace_id, span_id, sampled};
    const bool valid = trace_id != std::array<std::uint8_t, 16>{} && span_id != std::array<std::uint8_t, 8>{};
    const auto read = parse_traceparent(print_traceparent(context));
    RC_ASSERT(read.has_value() == valid);
    if (valid) RC_ASSERT(*read == context);
  }));
}
