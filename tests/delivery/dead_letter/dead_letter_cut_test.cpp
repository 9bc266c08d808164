#include "delivery/dead_letter/dead_letter_cut.h"

#include <rapidcheck.h>

#include <algorithm>

#include "catch.h"
#include "delivery/dead_letter/dead_letter_read.h"

using namespace laneway::delivery;

namespace {

Headers description() {
  DeadLetter letter;
  letter.topic = "orders";
  letter.partition = 0;
  letter.offset = 1;
  letter.reason = DeadLetterReason::rejected;
  letter.text = "too much";
  return dead_letter_headers({}, letter, HeaderFamily::spring);
}

std::optional<std::string> value_after_cut(const Headers& headers, std::string_view name) {
  for (const auto& header : headers)
    if (header.name == name) return header.value;
  return {};
}

std::size_t bytes_of(const DeadLetterContent& content) {
  return record_bytes(content.key, content.value, content.headers);
}

DeadLetterContent content(std::size_t key, std::size_t value, const std::vector<std::size_t>& headers = {}) {
  DeadLetterContent content{std::string(key, 'k'), std::string(value, 'v'), {}};
  for (const auto bytes : headers)
    content.headers.push_back({"h" + std::to_string(content.headers.size()), std::string(bytes, 'h')});
  for (const auto& header : description()) content.headers.push_back(header);
  return content;
}

constexpr std::size_t limit = 20000;

}  // namespace

TEST_CASE("a dead letter that fits stays as it is") {
  const auto fits = content(10, 1000, {100});
  CHECK(cut_to_fit(fits, limit) == fits);
  CHECK(cut_to_fit(fits, bytes_of(fits)) == fits);
}

TEST_CASE("a cut shortens the value first, then headers by size, then the key") {
  SECTION("value") {
    const auto cut = cut_to_fit(content(10, 50000, {100}), limit);
    CHECK(cut.value->size() > limit - 3000);
    CHECK(value_after_cut(cut.headers, "laneway-truncated") == "50000");
    CHECK(value_after_cut(cut.headers, "h0")->size() == 100);
    CHECK_FALSE(value_after_cut(cut.headers, "laneway-dropped-headers"));
    CHECK_FALSE(value_after_cut(cut.headers, "laneway-key-truncated"));
    CHECK(read_dead_letter(cut.headers)->cut);
  }
  SECTION("headers: the largest goes first, and the value comes back as far as there is room") {
    const auto cut = cut_to_fit(content(10, 5000, {9000, 15000, 400}), limit);
    CHECK(value_after_cut(cut.headers, "h0"));
    CHECK_FALSE(value_after_cut(cut.headers, "h1"));
    CHECK(value_after_cut(cut.headers, "h2"));
    CHECK(value_after_cut(cut.headers, "laneway-dropped-headers") == "1");
    CHECK(cut.value->size() == 5000);
    CHECK_FALSE(value_after_cut(cut.headers, "laneway-truncated"));
    CHECK(read_dead_letter(cut.headers)->cut);
  }
  SECTION("of equals the later one") {
    const auto cut = cut_to_fit(content(10, 0, {15000, 15000}), limit);
    CHECK(value_after_cut(cut.headers, "h0"));
    CHECK_FALSE(value_after_cut(cut.headers, "h1"));
  }
  SECTION("key") {
    const auto cut = cut_to_fit(content(30000, 5, {7}), limit);
    CHECK(cut.key->size() > limit - 3000);
    CHECK(cut.key->size() < limit);
    CHECK(cut.value->empty());
    CHECK(value_after_cut(cut.headers, "laneway-truncated") == "5");
    CHECK(value_after_cut(cut.headers, "laneway-dropped-headers") == "1");
    CHECK(value_after_cut(cut.headers, "laneway-key-truncated") == "30000");
    CHECK(value_after_cut(cut.headers, "kafka_dlt-exception-message") == "too much");
  }
}

TEST_CASE("a dead letter that is cut again keeps its first description") {
  const auto cut = cut_to_fit(cut_to_fit(content(40000, 50000, {9000, 15000}), 60000), limit);
  const auto said = [&](std::string_view name) {
    return std::count_if(cut.headers.begin(), cut.headers.end(),
                         [&](const Header& header) { return header.name == name; });
  };
  CHECK(value_after_cut(cut.headers, "laneway-truncated") == "50000");
  CHECK(value_after_cut(cut.headers, "laneway-key-truncated") == "40000");
  CHECK(value_after_cut(cut.headers, "laneway-dropped-headers") == "2");
  for (const char* name : {"laneway-truncated", "laneway-key-truncated", "laneway-dropped-headers"})
    CHECK(said(name) == 1);
}

TEST_CASE("a null stays null") {
  DeadLetterContent tombstone{std::string(30000, 'k'), std::nullopt, description()};
  CHECK_FALSE(cut_to_fit(tombstone, limit).value);
  DeadLetterContent keyless{std::nullopt, std::string(30000, 'v'), description()};
  CHECK_FALSE(cut_to_fit(keyless, limit).key);
}

TEST_CASE("every dead letter fits, and keeps its description and the beginning of each part") {
  REQUIRE(rc::check("cut", [] {
    const auto size =
        rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 100), rc::gen::inRange<std::size_t>(0, 60000));
    const auto whole = content(*size, *size, *rc::gen::container<std::vector<std::size_t>>(size));
    const auto max = *rc::gen::inRange<std::size_t>(0, 100000);
    const auto cut = cut_to_fit(whole, max);
    RC_ASSERT(bytes_of(cut) <= std::max(max, least_record_limit));
    RC_ASSERT(whole.key->starts_with(*cut.key));
    RC_ASSERT(whole.value->starts_with(*cut.value));
    for (const auto& header : description())
      RC_ASSERT(std::count(cut.headers.begin(), cut.headers.end(), header) == 1);
    RC_ASSERT((value_after_cut(cut.headers, "laneway-truncated") == std::to_string(whole.value->size())) ==
              (cut.value != whole.value));
    RC_ASSERT(read_dead_letter(cut.headers)->cut == (cut != whole));
    RC_ASSERT(cut_to_fit(cut, max) == cut);
  }));
}
