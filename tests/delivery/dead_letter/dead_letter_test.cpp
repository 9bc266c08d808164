#include "delivery/dead_letter/dead_letter.h"

#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "catch.h"
#include "delivery/dead_letter/dead_letter_cut.h"
#include "delivery/dead_letter/dead_letter_read.h"

using namespace laneway;
using namespace laneway::delivery;
using namespace std::string_literals;

namespace {

DeadLetter letter() {
  DeadLetter letter;
  letter.topic = "orders";
  letter.partition = 3;
  letter.offset = 258;
  letter.timestamp = 1'700'000'000'000;
  letter.timestamp_type = TimestampType::create_time;
  letter.consumer_group = "orders-webhook";
  letter.reason = DeadLetterReason::rejected;
  letter.text = "422 unknown article";
  letter.attempts = 2;
  letter.first_failure = 1'700'000'000'500;
  return letter;
}

std::optional<std::string> value_of(const Headers& headers, const std::string& name) {
  const auto named = [&](const Header& header) { return header.name == name; };
  REQUIRE(std::count_if(headers.begin(), headers.end(), named) == 1);
  return std::find_if(headers.begin(), headers.end(), named)->value;
}

bool valid_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_sequence_length(text, at);
    if (length == 0 || utf8_control(text, at, length)) return false;
    at += length;
  }
  return true;
}

rc::Gen<std::string> any_bytes() {
  return rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('a', '\n', '\xC3', '\xA9', '\x80')));
}

rc::Gen<Headers> any_headers() {
  return rc::gen::container<Headers>(rc::gen::exec([] {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> known{"traceparent", "", "kafka_dlt-", "kafka_dlt-exception-cause-fqcn"};
      for (const auto family : {HeaderFamily::spring, HeaderFamily::connect})
        for (const auto& header : dead_letter_headers({}, letter(), family)) known.push_back(header.name);
      for (const char* name : {"laneway-redrives", "laneway-truncated"}) known.emplace_back(name);
      return known;
    }();
    const auto value = *rc::gen::oneOf(
        any_bytes(), rc::gen::element("7"s, "-1"s, "99999999999999999999"s, "\0\0\0\1"s, "orders"s,
                                      "\0\0\0\0\0\0\0\1"s, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s));
    return Header{*rc::gen::elementOf(names),
                  *rc::gen::arbitrary<bool>() ? std::optional(value) : std::nullopt};
  }));
}

rc::Gen<DeadLetter> any_letter() {
  return rc::gen::exec([] {
    auto any = letter();
    any.partition = *rc::gen::inRange(0, std::numeric_limits<std::int32_t>::max());
    any.offset = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
    any.timestamp = *rc::gen::inRange<std::int64_t>(-1, std::int64_t{1} << 45);
    any.timestamp_type =
        *rc::gen::element(TimestampType::none, TimestampType::create_time, TimestampType::log_append_time);
    any.reason = *rc::gen::element(DeadLetterReason::unknown, DeadLetterReason::rejected,
                                   DeadLetterReason::attempts_exhausted, DeadLetterReason::retry_time_over,
                                   DeadLetterReason::too_old, DeadLetterReason::window_full,
                                   DeadLetterReason::crashed, DeadLetterReason::skipped);
    any.text = *any_bytes();
    any.attempts = *rc::gen::inRange<std::uint32_t>(0, 1000);
    any.first_failure = *rc::gen::inRange<std::int64_t>(-1, std::int64_t{1} << 45);
    return any;
  });
}

}  // namespace

TEST_CASE("Spring's headers have Spring's names and encodings") {
  const auto headers = dead_letter_headers({{"traceparent", "00-1"}}, letter(), HeaderFamily::spring);
  CHECK(value_of(headers, "traceparent") == "00-1");
  CHECK(value_of(headers, "kafka_dlt-original-topic") == "orders");
  CHECK(value_of(headers, "kafka_dlt-original-partition") == "\0\0\0\3"s);
  CHECK(value_of(headers, "kafka_dlt-original-offset") == "\0\0\0\0\0\0\1\2"s);
  CHECK(value_of(headers, "kafka_dlt-original-timestamp") == "\0\0\x01\x8B\xCF\xE5\x68\0"s);
  CHECK(value_of(headers, "kafka_dlt-original-timestamp-type") == "CreateTime");
  CHECK(value_of(headers, "kafka_dlt-original-consumer-group") == "orders-webhook");
  CHECK(value_of(headers, "kafka_dlt-exception-fqcn") == "laneway.rejected");
  CHECK(value_of(headers, "kafka_dlt-exception-message") == "422 unknown article");
  CHECK(value_of(headers, "kafka_dlt-exception-stacktrace") == "laneway.rejected: 422 unknown article");
  CHECK(value_of(headers, "laneway-reason") == "rejected");
  CHECK(value_of(headers, "laneway-attempts") == "2");
  CHECK(value_of(headers, "laneway-first-failure") == "1700000000500");
}

TEST_CASE("Connect's headers have Connect's names and are text") {
  const auto headers = dead_letter_headers({}, letter(), HeaderFamily::connect);
  CHECK(value_of(headers, "__connect.errors.topic") == "orders");
  CHECK(value_of(headers, "__connect.errors.partition") == "3");
  CHECK(value_of(headers, "__connect.errors.offset") == "258");
  CHECK(value_of(headers, "__connect.errors.connector.name") == "orders-webhook");
  CHECK(value_of(headers, "__connect.errors.task.id") == "0");
  CHECK(value_of(headers, "__connect.errors.stage") == "TASK_PUT");
  CHECK(value_of(headers, "__connect.errors.class.name") == "laneway");
  CHECK(value_of(headers, "__connect.errors.exception.class.name") == "laneway.rejected");
  CHECK(value_of(headers, "__connect.errors.exception.message") == "422 unknown article");
  CHECK(value_of(headers, "laneway-original-timestamp") == "1700000000000");
}

TEST_CASE("dead letters that Spring and Connect wrote themselves are read") {
  const Headers spring{
      {"kafka_dlt-original-topic", "orders"},
      {"kafka_dlt-original-partition", "\0\0\0\1"s},
      {"kafka_dlt-original-offset", "\0\0\0\0\0\0\0\2"s},
      {"kafka_dlt-original-timestamp", "\0\0\x01\x8B\xCF\xE5\x68\0"s},
      {"kafka_dlt-original-timestamp-type", "LogAppendTime"},
      {"kafka_dlt-original-consumer-group", "shop"},
      {"kafka_dlt-exception-fqcn", "org.springframework.kafka.listener.ListenerExecutionFailedException"},
      {"kafka_dlt-exception-cause-fqcn", "java.lang.IllegalStateException"},
      {"kafka_dlt-exception-message", "Listener failed; boom"},
      {"kafka_dlt-exception-stacktrace", "org…\n\tat com.example.Shop"}};
  auto read = read_dead_letter(spring);
  REQUIRE(read);
  CHECK(read->topic == "orders");
  CHECK(read->partition == 1);
  CHECK(read->offset == 2);
  CHECK(read->timestamp == 1'700'000'000'000);
  CHECK(read->timestamp_type == TimestampType::log_append_time);
  CHECK(read->consumer_group == "shop");
  CHECK(read->text == "Listener failed; boom");
  CHECK(read->exception == "org.springframework.kafka.listener.ListenerExecutionFailedException");
  CHECK(read->reason == DeadLetterReason::unknown);
  CHECK(read->attempts == 0);
  CHECK(read->first_failure == -1);

  const Headers connect{
      {"__connect.errors.topic", "orders"},
      {"__connect.errors.partition", "1"},
      {"__connect.errors.offset", "9223372036854775807"},
      {"__connect.errors.connector.name", "jdbc"},
      {"__connect.errors.exception.class.name", "org.apache.kafka.connect.errors.DataException"},
      {"__connect.errors.exception.message", "Converting byte[] failed"}};
  read = read_dead_letter(connect);
  REQUIRE(read);
  CHECK(read->offset == std::numeric_limits<std::int64_t>::max());
  CHECK(read->consumer_group == "jdbc");
  CHECK(read->text == "Converting byte[] failed");
  CHECK(read->timestamp == -1);
}

TEST_CASE("if two services gave up a record, the later description is read") {
  auto headers = dead_letter_headers({}, letter(), HeaderFamily::spring);
  headers.push_back({"__connect.errors.topic", "audit"});
  CHECK(read_dead_letter(headers)->topic == "audit");
  headers.push_back({"kafka_dlt-original-topic", "orders.audit"});
  CHECK(read_dead_letter(headers)->topic == "orders.audit");
}

TEST_CASE("an invalid header is ignored") {
  const auto with = [](std::string name, std::optional<std::string> value) {
    auto headers = dead_letter_headers({}, letter(), HeaderFamily::spring);
    headers.push_back({std::move(name), std::move(value)});
    return *read_dead_letter(headers);
  };
  CHECK(with("kafka_dlt-original-partition", "\0\0\1"s).partition == -1);
  CHECK(with("kafka_dlt-original-partition", "\xFF\xFF\xFF\xFF"s).partition == -1);
  CHECK(with("kafka_dlt-original-offset", "258").offset == -1);
  CHECK(with("kafka_dlt-original-offset", std::nullopt).offset == 258);
  CHECK(with("kafka_dlt-original-topic", "../orders").topic.empty());
  CHECK(with("kafka_dlt-original-topic", "..").topic.empty());
  CHECK(with("kafka_dlt-original-topic", std::string(250, 'a')).topic.empty());
  CHECK(with("laneway-attempts", "-1").attempts == 0);
  CHECK(with("laneway-attempts", "4294967296").attempts == 0);
  CHECK(with("laneway-attempts", "1x").attempts == 0);
  CHECK(with("laneway-reason", "Rejected").reason == DeadLetterReason::unknown);
  CHECK(with("laneway-redrives", "").redrives == 0);
  CHECK_FALSE(read_dead_letter({}));
  CHECK_FALSE(read_dead_letter({{"traceparent", "00"}, {"laneway-redrives", "1"}}));
}

TEST_CASE("a text is cut between characters, and marked as cut") {
  CHECK(clean_text("ab\r\n\tc\x7F", 100) == "ab   c ");
  CHECK(clean_text("\xC2\x9Bok\xFF", 100) == " ok\xEF\xBF\xBD");
  CHECK(clean_text("éé", 4) == "éé");
  CHECK(clean_text("ééé", 5) == "é…");
  CHECK(clean_text("abcdef", 5) == "ab…");
  CHECK(clean_text("abcdef", 3) == "…");
}

TEST_CASE("any bytes become one line of valid UTF-8 within its bound") {
  REQUIRE(rc::check("clean_text", [] {
    const auto limit = *rc::gen::inRange<std::size_t>(3, 40);
    const auto text = clean_text(*any_bytes(), limit);
    RC_ASSERT(text.size() <= limit);
    RC_ASSERT(valid_line(text));
    RC_ASSERT(clean_text(text, limit) == text);
  }));
}

TEST_CASE("a description is read from its headers, whatever headers the record had before") {
  REQUIRE(rc::check("round trip", [] {
    const auto family = *rc::gen::element(HeaderFamily::spring, HeaderFamily::connect);
    const auto before = *any_headers();
    const auto written = *any_letter();
    const auto headers = dead_letter_headers(before, written, family);
    auto expected = written;
    expected.text = clean_text(written.text);
    expected.exception = "laneway." + std::string(name(written.reason));
    const auto earlier = read_dead_letter(dead_letter_headers(before, letter(), family));
    expected.redrives = earlier->redrives;
    RC_ASSERT(*read_dead_letter(headers) == expected);
    for (const auto& header : headers)
      if (describes_dead_letter(header.name))
        RC_ASSERT(std::count_if(headers.begin(), headers.end(),
                                [&](const Header& other) { return other.name == header.name; }) == 1);
    RC_ASSERT(record_bytes({}, {}, headers) <= record_bytes({}, {}, before) + max_description_bytes);
    Headers own, own_before;
    for (const auto& header : headers)
      if (!describes_dead_letter(header.name)) own.push_back(header);
    for (const auto& header : before)
      if (!describes_dead_letter(header.name)) own_before.push_back(header);
    RC_ASSERT(own == own_before);
  }));
}

TEST_CASE("the longest description stays within its bound") {
  auto longest = letter();
  longest.topic = std::string(249, 't');
  longest.consumer_group = longest.text = std::string(100000, '\xFF');
  longest.attempts = std::numeric_limits<std::uint32_t>::max();
  longest.timestamp = longest.first_failure = longest.offset = std::numeric_limits<std::int64_t>::max();
  for (const auto family : {HeaderFamily::spring, HeaderFamily::connect}) {
    const Headers redriven{{"laneway-redrives", "4294967295"}};
    const auto headers = dead_letter_headers(redriven, longest, family);
    CHECK(record_bytes({}, {}, headers) - record_bytes({}, {}, {}) <= max_description_bytes);
  }
}

TEST_CASE("a redrive removes the description and counts, and the next dead letter has the count") {
  const Headers own{{"traceparent", "00-1"}, {"kafka", std::nullopt}};
  auto headers = dead_letter_headers(own, letter(), HeaderFamily::spring);
  CHECK(read_dead_letter(headers)->redrives == 0);
  auto back = redriven_headers(headers, 1);
  CHECK(back == Headers{{"traceparent", "00-1"}, {"kafka", std::nullopt}, {"laneway-redrives", "1"}});
  headers = dead_letter_headers(back, letter(), HeaderFamily::connect);
  CHECK(read_dead_letter(headers)->redrives == 1);
  CHECK(redriven_headers(headers, 2) ==
        Headers{{"traceparent", "00-1"}, {"kafka", std::nullopt}, {"laneway-redrives", "2"}});
}

TEST_CASE("a dead letter names its sub-job, also after a redrive and another failure") {
  const Header part{"laneway-part", "billing"};
  const auto parts_in = [](const Headers& headers) {
    return std::count_if(headers.begin(), headers.end(), [](const auto& h) { return h.name == part_header; });
  };
  for (const auto family : {HeaderFamily::spring, HeaderFamily::connect}) {
    const auto headers = dead_letter_headers({part}, letter(), family);
    CHECK(headers.front() == part);
    const auto back = redriven_headers(headers, 1);
    CHECK(back == Headers{part, {"laneway-redrives", "1"}});
    CHECK(dead_letter_headers(back, letter(), family).front() == part);
    CHECK(parts_in(dead_letter_headers({{"laneway-part", std::nullopt}}, letter(), family)) == 0);
    CHECK(parts_in(dead_letter_headers({{"laneway-part", std::string(longest_part_bytes + 1, 'x')}}, letter(),
                                       family)) == 0);
  }
}

TEST_CASE("any headers are read without an exception, and give valid values") {
  REQUIRE(rc::check("nonsense", [] {
    const auto read = read_dead_letter(*any_headers());
    if (!read) return;
    RC_ASSERT(read->partition >= -1);
    RC_ASSERT(read->offset >= -1);
    RC_ASSERT(read->timestamp >= -1);
    RC_ASSERT(read->first_failure >= -1);
    RC_ASSERT(read->topic.size() <= 249U);
  }));
}
