#include "handler/http/http_request.h"

#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "catch.h"
#include "handler/format/delivery_id.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs headers_of(kafka::RecordData data, std::uint32_t attempt = 1, std::vector<std::string> passed_on = {},
                 const std::string& cluster = "c-1") {
  const kafka::Record record(data);
  StopState stop;
  Pairs out;
  RequestHeaders headers;
  add_request_headers({record, attempt, {&stop, 1}, nullptr, nullptr, cluster}, passed_on, headers);
  std::istringstream lines(headers.lines());
  for (std::string line; std::getline(lines, line, '\0');) {
    const auto end = line.find_first_of(":;");
    if (line[end] == ':') REQUIRE(line.substr(end, 2) == ": ");
    out.emplace_back(line.substr(0, end), line[end] == ';' ? "" : line.substr(end + 2));
  }
  return out;
}

std::string percent_encoded(std::string_view bytes) {
  std::string out;
  append_percent_encoded(out, bytes);
  return out;
}

std::string percent_decoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return out;
}

}  // namespace

TEST_CASE("a request has the place of its record") {
  CHECK(headers_of(record_data(42, "v", "k"), 3) == Pairs{{"Kafka-Topic", "orders"},
                                                          {"Kafka-Partition", "3"},
                                                          {"Kafka-Offset", "42"},
                                                          {"Kafka-Timestamp", "1767323045678"},
                                                          {"Kafka-Key", "k"},
                                                          {"Laneway-Attempt", "3"},
                                                          {"Laneway-Delivery-Id", "c-1/orders/3/42"}});
}

TEST_CASE("absent parts of a record have no header, and a tombstone has a mark") {
  auto data = record_data(0, {});
  data.timestamp = -1;
  CHECK(headers_of(std::move(data)) == Pairs{{"Kafka-Topic", "orders"},
                                             {"Kafka-Partition", "3"},
                                             {"Kafka-Offset", "0"},
                                             {"Kafka-Tombstone", "true"},
                                             {"Laneway-Attempt", "1"},
                                             {"Laneway-Delivery-Id", "c-1/orders/3/0"}});
}

TEST_CASE("a delivery id leaves out an unknown cluster id") {
  CHECK(headers_of(record_data(7, "v"), 1, {}, "").back() ==
        Pairs::value_type{"Laneway-Delivery-Id", "orders/3/7"});
}

TEST_CASE("an empty key has an empty header") {
  const auto headers = headers_of(record_data(0, "v", ""));
  CHECK(std::count(headers.begin(), headers.end(), std::pair<std::string, std::string>("Kafka-Key", "")) ==
        1);
}

TEST_CASE("percent-encoding keeps unreserved characters and escapes the others") {
  CHECK(percent_encoded("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encoded(std::string_view("a b\0%\r\n/\xff", 9)) == "a%20b%00%25%0D%0A%2F%FF");
}

TEST_CASE("percent-encoding of any bytes is reversible and safe in a header") {
  REQUIRE(rc::check([](const std::string& bytes) {
    const auto encoded = percent_encoded(bytes);
    RC_ASSERT(percent_decoded(encoded) == bytes);
    RC_ASSERT(std::all_of(encoded.begin(), encoded.end(), [](char c) { return c > ' ' && c < 0x7F; }));
  }));
}

TEST_CASE("traceparent and configured record headers are passed on, others are not") {
  auto data = record_data(0, "v");
  data.headers = {{"traceparent", "00-ab-cd-01"},
                  {"tenant", "a"},
                  {"secret", "s"},
                  {"tenant", "b"},
                  {"empty", ""},
                  {"null", {}}};
  auto headers = headers_of(std::move(data), 1, {"tenant", "empty", "null"});
  headers.erase(headers.begin(), headers.begin() + 6);
  CHECK(headers == Pairs{{"traceparent", "00-ab-cd-01"}, {"tenant", "a"}, {"tenant", "b"}, {"empty", ""}});
}

TEST_CASE("a value that is passed on cannot add a header") {
  auto data = record_data(0, "v");
  data.headers = {{"tenant", std::string("a\r\nX-Admin: 1\0\x7f %41 \xc3\xa9", 22)}};
  CHECK(headers_of(std::move(data), 1, {"tenant"}).back().second == "a%0D%0AX-Admin: 1%00%7F %41 \xc3\xa9");
}

TEST_CASE("invalid names, and names that HTTP or laneway sets, cannot be passed on") {
  for (const auto* name : {"tenant", "X-Request-Id", "tracestate", "traceparent", "Authorization"})
    CHECK(may_be_passed_on(name));
  for (const auto* name : {"", "Host", "content-length", "Transfer-Encoding", "Connection", "Expect",
                           "Kafka-Key", "kafka-anything", "laneway-attempt", "Laneway-Delivery-Id",
                           "Proxy-Authorization", "a b", "a:b", "a\r\nb", "\xc3\xa9"})
    CHECK_FALSE(may_be_passed_on(name));
}
