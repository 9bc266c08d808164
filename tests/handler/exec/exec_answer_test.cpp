#include "handler/exec/exec_answer.h"

#include "base/big_endian.h"
#include "catch.h"
#include "handler/exec/exec_frame.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;
using config::Framing;

namespace {

Outcome answer(const std::string& text) {
  auto outcome = exec_answer(Framing::json, text, 7);
  INFO(text);
  REQUIRE(outcome.ok());
  return std::move(outcome).value();
}

std::string refusal(const std::string& text) {
  const auto outcome = exec_answer(Framing::json, text, 7);
  INFO(text);
  REQUIRE_FALSE(outcome.ok());
  return outcome.error().message;
}

std::string binary(std::uint64_t id, std::uint8_t outcome, std::int64_t after, const std::string& reason = "",
                   std::uint8_t version = exec_version) {
  std::string out(1, static_cast<char>(version));
  append_big_endian(out, id);
  out += static_cast<char>(outcome);
  append_big_endian(out, static_cast<std::uint64_t>(after));
  return out + reason;
}

}  // namespace

TEST_CASE("an answer with deep nesting is not JSON, and uses no stack") {
  const std::string deep = std::string(130'000, '[') + std::string(130'000, ']');
  CHECK(refusal("{\"outcome\":" + deep + "}").starts_with("is not JSON"));
  CHECK(refusal("{\"id\":" + deep + ",\"outcome\":\"done\"}").starts_with("is not JSON"));
  CHECK(refusal(deep).starts_with("is not JSON"));
}

TEST_CASE("a JSON answer gives its outcome") {
  CHECK(answer(R"({"outcome":"done"})").verdict == Verdict::done);
  CHECK(answer(" {\"outcome\":\"done\",\"id\":7,\"more\":[1]}\r").verdict == Verdict::done);
  const auto retry = answer(R"({"outcome":"retry","reason":"locked","after":"1500ms"})");
  CHECK(retry.verdict == Verdict::retry);
  CHECK(retry.reason == "locked");
  CHECK(retry.after == Duration(milliseconds(1500)));
  CHECK(answer(R"({"outcome":"reject","reason":null,"after":null})").verdict == Verdict::reject);
  CHECK(answer(R"({"outcome":"unavailable","after":"0s"})").after == Duration::zero());
  CHECK(answer(R"({"outcome":"unavailable","after":"1000h"})").after == Duration(std::chrono::hours(24)));
}

TEST_CASE("a reason is safe to print and has a bounded length") {
  CHECK(answer(R"({"outcome":"retry","reason":"a\n\u001b[31mb"})").reason == "a\\n\\x1b[31mb");
  const auto longest = answer("{\"outcome\":\"retry\",\"reason\":\"" + std::string(2000, 'x') + "\"}").reason;
  CHECK(longest == std::string(1000, 'x') + "...");
}

TEST_CASE("an invalid JSON answer is reported") {
  CHECK(refusal("") == "is not JSON: ");
  CHECK(refusal("ok\x1b[0m") == "is not JSON: ok\\x1b[0m");
  CHECK(refusal(R"({"outcome":"done"} {"outcome":"done"})").starts_with("is not JSON"));
  CHECK(refusal("{\"outcome\":\"done\",\"reason\":\"\xff\"}").starts_with("is not JSON"));
  CHECK(refusal("[]") == "is not a JSON object: []");
  CHECK(refusal("{}") == "has no outcome: {}");
  CHECK(refusal(R"({"outcome":null})").starts_with("has no outcome"));
  for (const char* outcome : {"\"Done\"", "\"\"", "0", "true", "[\"done\"]"})
    CHECK(refusal("{\"outcome\":" + std::string(outcome) + "}")
              .starts_with("has an invalid outcome (expected done, retry, reject and unavailable): {"));
  CHECK(refusal(R"({"outcome":"done","reason":5})").starts_with("has an invalid reason (expected a text"));
  for (const char* after : {"5", "\"soon\"", "\"-5s\"", "{}"})
    CHECK(refusal("{\"outcome\":\"retry\",\"after\":" + std::string(after) + "}")
              .starts_with("has an invalid after (expected a duration such as \"5s\""));
  for (const char* id : {"8", "\"7\"", "-7", "7.5"})
    CHECK(refusal("{\"outcome\":\"done\",\"id\":" + std::string(id) + "}")
              .starts_with("has the wrong id (expected 7): {"));
}

TEST_CASE("a binary answer gives its outcome") {
  const auto parsed = [](const std::string& frame) { return exec_answer(Framing::binary, frame, 7); };
  CHECK(parsed(binary(7, 0, -1))->verdict == Verdict::done);
  const auto retry = parsed(binary(7, 1, 250, "locked\n"));
  REQUIRE(retry.ok());
  CHECK(retry->verdict == Verdict::retry);
  CHECK(retry->after == Duration(milliseconds(250)));
  CHECK(retry->reason == "locked\\n");
  CHECK(parsed(binary(7, 2, -1, "never"))->verdict == Verdict::reject);
  const auto unavailable = parsed(binary(7, 3, std::numeric_limits<std::int64_t>::max()));
  CHECK(unavailable->verdict == Verdict::unavailable);
  CHECK(unavailable->after == Duration(std::chrono::hours(24)));
  CHECK_FALSE(parsed(binary(7, 1, -1))->after.has_value());
}

TEST_CASE("an invalid binary answer is reported") {
  const auto told = [](const std::string& frame) {
    const auto parsed = exec_answer(Framing::binary, frame, 7);
    REQUIRE_FALSE(parsed.ok());
    return parsed.error().message;
  };
  CHECK(told("") == "has 0 bytes; an answer has at least 18");
  CHECK(told(binary(7, 0, -1).substr(1)) == "has 17 bytes; an answer has at least 18");
  CHECK(told(binary(7, 0, -1, "", 2)) == "has version 2 (expected 1)");
  CHECK(told(binary(8, 0, -1)) == "has id 8 (expected 7)");
  CHECK(told(binary(7, 5, -1)) == "has outcome 5 (expected 0 to 4)");
  CHECK(told(binary(7, 1, -2)) == "has after -2 (expected -1 or more)");
}

namespace {

const kafka::Record asked_record(record_data(1, "v"));
const Content asked(asked_record);

void append_bytes(std::string& out, const std::optional<std::string>& bytes) {
  append_big_endian(out, bytes ? static_cast<std::uint32_t>(bytes->size()) : ~std::uint32_t{0});
  out += bytes.value_or("");
}

std::string two_results() {
  std::string out = binary(7, 4, -1);
  append_big_endian(out, std::uint32_t{2});
  for (const char* id : {"small", "large"}) {
    append_bytes(out, id);
    append_bytes(out, std::nullopt);
    append_bytes(out, std::string("\x00\xff", 2));
    append_big_endian(out, std::uint32_t{1});
    append_bytes(out, "width");
    append_bytes(out, std::nullopt);
  }
  return out;
}

}  // namespace

TEST_CASE("results in an answer are used if another pool follows") {
  const std::string text = R"({"outcome":"done","results":[{"id":"a","value":"x"}]})";
  const auto passed_on = exec_answer(Framing::json, text, 7, &asked);
  REQUIRE(passed_on.ok());
  REQUIRE(passed_on->parts);
  REQUIRE(passed_on->parts->size() == 1);
  CHECK(passed_on->parts->front().value == "x");
  CHECK(answer(text).parts == nullptr);
  CHECK(answer(R"({"outcome":"done","results":7})").verdict == Verdict::done);
  const auto none = exec_answer(Framing::json, R"({"outcome":"done","results":null})", 7, &asked);
  CHECK(none->parts == nullptr);
  const auto retry = exec_answer(Framing::json, R"({"outcome":"retry","results":[{}]})", 7, &asked);
  CHECK(retry->parts == nullptr);
  const auto wrong = exec_answer(Framing::json, R"({"outcome":"done","results":7})", 7, &asked);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.starts_with("has results that are not a list"));
}

TEST_CASE("a binary answer can have results in bytes") {
  const auto parsed = exec_answer(Framing::binary, two_results(), 7, &asked);
  REQUIRE(parsed.ok());
  REQUIRE(parsed->parts);
  REQUIRE(parsed->parts->size() == 2);
  const Part& large = parsed->parts->back();
  CHECK(large.id == "large");
  CHECK(large.key == std::nullopt);
  CHECK(large.value == std::string("\x00\xff", 2));
  REQUIRE(large.headers.size() == 1);
  CHECK(large.headers[0].first == "width");
  const auto ignored = exec_answer(Framing::binary, two_results(), 7);
  CHECK(ignored->verdict == Verdict::done);
  CHECK(ignored->parts == nullptr);
}

TEST_CASE("binary results that do not fill their frame are refused, wherever they end") {
  const auto whole = two_results();
  for (std::size_t size = 18; size < whole.size(); ++size) {
    const auto cut = exec_answer(Framing::binary, whole.substr(0, size), 7, &asked);
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().message == "has results that do not fill its frame");
  }
  CHECK_FALSE(exec_answer(Framing::binary, whole + "x", 7, &asked).ok());
  std::string many = binary(7, 4, -1);
  append_big_endian(many, std::uint32_t{10'001});
  CHECK(exec_answer(Framing::binary, many, 7, &asked).error().message.starts_with("has 10001 results"));
}
