#include "handler/exec/exec_frame.h"

#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/big_endian.h"
#include "catch.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;
using config::Framing;
using State = ExecFrameReader::State;

namespace {

std::string line_of(kafka::RecordData data) {
  const kafka::Record record(data);
  StopState stop;
  return exec_frame(Framing::json, 7, {record, 2, {&stop, 1}, nullptr, nullptr, "c/1"});
}

std::string framed(Framing framing, const std::string& text) {
  if (framing == Framing::json) return text + '\n';
  std::string out;
  append_big_endian(out, static_cast<std::uint32_t>(text.size()));
  return out + text;
}

}  // namespace

TEST_CASE("one field that is not UTF-8 makes key, value and header values base64") {
  auto data = record_data(1, "v", "k");
  data.headers = {{"h", "\xff"}, {"n", std::nullopt}, {"\xff", ""}};
  CHECK(
      line_of(std::move(data)) ==
      "{\"id\":7,\"topic\":\"orders\",\"partition\":3,\"offset\":1,\"timestamp\":1767323045678,\"key\":\"aw=="
      "\","
      "\"value\":\"dg==\",\"headers\":[[\"h\",\"/w==\"],[\"n\",null],[\"\xef\xbf\xbd\",\"\"]],\"attempt\":2,"
      "\"delivery_id\":\"c%2F1/orders/3/1\",\"base64\":true}\n");
  data = record_data(1, "v", "k");
  data.headers = {{"\xff", "x"}};
  CHECK(line_of(std::move(data)).find("base64") == std::string::npos);
}

TEST_CASE("a record is one line, whatever its content") {
  REQUIRE(rc::check([](const std::string& key, const std::string& value, const std::string& header) {
    auto data = record_data(1, value, key);
    data.headers = {{header, header}};
    const auto line = line_of(std::move(data));
    RC_ASSERT(std::count(line.begin(), line.end(), '\n') == 1);
    RC_ASSERT(line.ends_with("}\n"));
  }));
}

TEST_CASE("a JSON reader finds the record's content in the line") {
  REQUIRE(rc::check([](const std::string& key, const std::string& value, const std::string& header) {
    auto data = record_data(1, value, key);
    data.headers = {{"name", header}, {"none", std::nullopt}};
    const auto object = nlohmann::json::parse(line_of(std::move(data)));
    const auto array = [](nlohmann::json::initializer_list_t list) { return nlohmann::json::array(list); };
    const bool coded = object.value("base64", false);
    const auto shown = [&](const std::string& text) { return coded ? base64(text) : text; };
    RC_ASSERT(object["key"] == shown(key));
    RC_ASSERT(object["value"] == shown(value));
    RC_ASSERT(object["headers"] ==
              nlohmann::json::array({array({"name", shown(header)}), array({"none", nullptr})}));
    RC_ASSERT(object["offset"] == 1);
    RC_ASSERT(object["id"] == 7);
    RC_ASSERT(object["attempt"] == 2);
    RC_ASSERT(object["delivery_id"] == "c%2F1/orders/3/1");
  }));
  const auto object =
      nlohmann::json::parse(line_of(record_data(1, "a\"b\\c\n\x01\x7f\u00e4", "\u20ac and more text")));
  CHECK(object["value"] == "a\"b\\c\n\x01\x7f\u00e4");
  CHECK(object["key"] == "\u20ac and more text");
}

TEST_CASE("frames are the same, whatever pieces they arrive in") {
  for (const auto framing : {Framing::json, Framing::binary})
    REQUIRE(rc::check([&](std::vector<std::string> texts, const std::vector<std::uint8_t>& sizes) {
      std::string stream;
      for (auto& text : texts) {
        if (framing == Framing::json) std::replace(text.begin(), text.end(), '\n', ' ');
        stream += framed(framing, text);
      }
      ExecFrameReader reader(framing);
      std::vector<std::string> found;
      for (std::size_t i = 0, at = 0; at < stream.size(); ++i) {
        const std::size_t size = i < sizes.size() ? 1U + sizes[i] : stream.size();
        reader.feed(std::string_view(stream).substr(at, size));
        at += size;
        for (; reader.state() == State::complete; reader.take()) found.emplace_back(reader.frame());
      }
      RC_ASSERT(found == texts);
      RC_ASSERT(reader.empty());
    }));
}

TEST_CASE("an answer that is too long is refused as soon as it passes the limit") {
  for (const auto framing : {Framing::json, Framing::binary}) {
    ExecFrameReader fits(framing);
    fits.feed(framed(framing, std::string(longest_exec_answer, 'x')));
    CHECK(fits.state() == State::complete);
    CHECK(fits.frame().size() == longest_exec_answer);
    ExecFrameReader large(framing);
    large.feed(framed(framing, std::string(longest_exec_answer + 1, 'x')));
    CHECK(large.state() == State::too_long);
  }
  ExecFrameReader line(Framing::json);
  line.feed(std::string(longest_exec_answer, 'x'));
  CHECK(line.state() == State::incomplete);
  line.feed("x");
  CHECK(line.state() == State::too_long);
  ExecFrameReader binary(Framing::binary);
  binary.feed("\xff\xff\xff\xff");
  CHECK(binary.state() == State::too_long);
}
