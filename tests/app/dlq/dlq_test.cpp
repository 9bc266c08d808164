#include <rapidcheck.h>

#include <map>
#include <sstream>

#include "app/cli/terminal.h"
#include "app/dlq/map_room.h"
#include "app/dlq/print.h"
#include "app/dlq/progress.h"
#include "app/dlq/redrive.h"
#include "app/dlq/sent_back.h"
#include "app/dlq/verbs.h"
#include "base/utf8.h"
#include "catch.h"
#include "config/text.h"
#include "kafka/produce/producer.h"
#include "lane/ledger/ledger.h"

using namespace laneway;
using namespace laneway::dlq;

namespace {

constexpr std::int64_t now = 1'800'000'000'000;

delivery::DeadLetter description() {
  delivery::DeadLetter about;
  about.topic = "orders";
  about.partition = 3;
  about.offset = 258;
  about.timestamp = now - 90'000;
  about.consumer_group = "shop";
  about.reason = delivery::DeadLetterReason::rejected;
  about.text = "422 unknown article";
  about.attempts = 2;
  about.first_failure = now - 60'000;
  return about;
}

Letter letter(const delivery::Headers& headers, std::string value = "value") {
  kafka::RecordData data;
  data.topic = "orders-dlt";
  data.partition = 1;
  data.offset = 17;
  data.timestamp = now - 90'000;
  data.key = "key";
  data.value = std::move(value);
  for (const auto& header : headers) data.headers.emplace_back(header.name, header.value);
  return Letter(kafka::Record(data));
}

Letter letter(const delivery::DeadLetter& about = description(), delivery::Headers own = {}) {
  return letter(dead_letter_headers(std::move(own), about, delivery::HeaderFamily::spring));
}

bool harmless(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_sequence_length(text, at);
    if (length == 0 || (utf8_control(text, at, length) && text[at] != '\n' && text[at] != '\t')) return false;
    at += length;
  }
  return true;
}

}  // namespace

TEST_CASE("dlq: each part of a filter excludes the letters that do not match") {
  const auto one = letter(description(), {{"tenant", "blue"}});
  const auto passes = [&](auto change) {
    Filter filter;
    change(filter);
    return filter.lets_through(one);
  };
  CHECK(passes([](Filter&) {}));
  CHECK(passes([](Filter& f) { f.origin = cli::Place{"orders", {}, {}}; }));
  CHECK_FALSE(passes([](Filter& f) { f.origin = cli::Place{"order", {}, {}}; }));
  CHECK(passes([](Filter& f) { f.origin = cli::parse_place("orders:3"); }));
  CHECK_FALSE(passes([](Filter& f) { f.origin = cli::parse_place("orders:2"); }));
  CHECK(passes([](Filter& f) { f.origin = cli::parse_place("orders[3]@258"); }));
  CHECK_FALSE(passes([](Filter& f) { f.origin = cli::parse_place("orders:3:257"); }));
  CHECK(passes([](Filter& f) { f.partition = 3; }));
  CHECK_FALSE(passes([](Filter& f) { f.partition = 1; }));
  CHECK(passes([](Filter& f) { f.since = now - 60'000; }));
  CHECK_FALSE(passes([](Filter& f) { f.since = now - 59'999; }));
  CHECK(passes([](Filter& f) { f.until = now - 59'999; }));
  CHECK_FALSE(passes([](Filter& f) { f.until = now - 60'000; }));
  CHECK(passes([](Filter& f) { f.reason = "UNKNOWN article"; }));
  CHECK(passes([](Filter& f) { f.reason = "rejected"; }));
  CHECK_FALSE(passes([](Filter& f) { f.reason = "timeout"; }));
  CHECK(passes([](Filter& f) { f.headers = {{"tenant", "blue"}}; }));
  CHECK(passes([](Filter& f) { f.headers = {{"tenant", {}}}; }));
  CHECK_FALSE(passes([](Filter& f) { f.headers = {{"tenant", "red"}}; }));
  CHECK_FALSE(passes([](Filter& f) { f.headers = {{"tenant", "blue"}, {"region", {}}}; }));
}

TEST_CASE("dlq: a time is a date in UTC or a duration ago") {
  CHECK(*parse_time("1970-01-02", now) == 86'400'000);
  CHECK(*parse_time("1970-01-01T01:30", now) == 5'400'000);
  CHECK(*parse_time("1970-01-01T00:00:07Z", now) == 7'000);
  CHECK(*parse_time("2h", now) == now - 7'200'000);
  for (const char* wrong : {"", "yesterday", "1970-01-01T", "1970-01-01 00:00", "2", "Z"})
    CHECK_FALSE(parse_time(wrong, now).ok());
}

TEST_CASE("dlq: the place of a letter is a partition and an offset, with or without a topic") {
  const auto plain = parse_letter_position("3:258");
  REQUIRE(plain);
  CHECK(plain->topic.empty());
  CHECK(plain->partition == 3);
  CHECK(plain->offset == 258);
  for (const char* text : {"orders-dlt:0:9223372036854775807", "orders-dlt[0]@9223372036854775807"})
    CHECK(parse_letter_position(text)->topic == "orders-dlt");
  for (const char* wrong : {"", "3", "3:", ":3", ":3:4", "a:b", "3:-1", "-1:3", "3:4x",
                            "3:9223372036854775808", "orders-dlt", "orders-dlt:3"})
    CHECK_FALSE(parse_letter_position(wrong).ok());
}

TEST_CASE("dlq: a row has the place, origin, age, attempts, redrive and reason of a letter") {
  const auto at_80 = layout_of("orders-dlt", 4, 1000, 80);
  CHECK(table_heading(at_80) == "letter           origin             age tries sent reason\n");
  CHECK(table_row(letter(), {now, false}, at_80) ==
        "orders-dlt:1:17  orders:3:258      60 s     2   no rejected: 422 unknown article\n");
  CHECK(table_row(letter(delivery::Headers{}), {now, std::nullopt}, at_80) ==
        "orders-dlt:1:17  ?                 90 s     ?    ? not a dead letter\n");
  CHECK_THAT(table_row(letter(), {now, true}, layout_of("orders-dlt", 4, 1000, 79)),
             Catch::Contains(" yes rejected: 422 unknown artic…\n"));
}

TEST_CASE("dlq: a pipe gets whole places and reasons, and a terminal gets the ends of long places") {
  auto about = description();
  about.topic = "orders-of-a-department-with-a-long-name";
  about.text = std::string(300, 'x') + " the end";
  const auto row = table_row(letter(about), {now, true}, layout_of("orders-dlt", 4, 1000, 0));
  CHECK_THAT(row, Catch::Contains("orders-of-a-department-with-a-long-name:3:258 ") &&
                      Catch::Contains(std::string(300, 'x') + " the end\n"));
  CHECK_THAT(table_row(letter(about), {now, true}, layout_of("orders-dlt", 4, 1000, 80)),
             Catch::Contains(" …long-name:3:258 "));
}

TEST_CASE("dlq: an age is rounded, and never decreases as time goes on") {
  const auto text = [](std::int64_t s) { return cli::age_text(s * 1000); };
  CHECK(text(0) == "0 s");
  CHECK(text(119) == "119 s");
  CHECK(text(120) == "2 m");
  CHECK(text(179) == "3 m");
  CHECK(text(7169) == "119 m");
  CHECK(text(7170) == "2 h");
  CHECK(text(71 * 3600) == "71 h");
  CHECK(text(72 * 3600) == "3 d");
  CHECK(text(1000 * 86400) == "3 y");
  const std::map<char, std::int64_t> units{
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'y', 365 * 86400}};
  std::int64_t before = 0;
  for (std::int64_t s = 0; s < 2000 * 86400; s += 1 + s / 500) {
    const auto shown = std::stoll(text(s)) * units.at(text(s).back());
    REQUIRE(shown >= before);
    before = shown;
  }
}

TEST_CASE("dlq: letters below the committed offset or in its completion map count as sent back") {
  const kafka::PartitionSpan span{{"orders-dlt", 0}, 10, 100};
  lane::Ledger ledger(20);
  ledger.append(20);
  ledger.complete(ledger.append(21));
  SentBack sent;
  sent.add(span.partition, sent_back_of({.offset = 20, .map = ledger.completed(9)}, span));
  CHECK(sent.contains(span.partition, 19));
  CHECK_FALSE(sent.contains(span.partition, 20));
  CHECK(sent.contains(span.partition, 21));
  CHECK_FALSE(sent.contains(span.partition, 22));
  CHECK_FALSE(sent.contains({"orders-dlt", 1}, 19));
  for (const std::int64_t nothing :
       {kafka::no_offset, std::int64_t{101}}) {  // 101: the topic was created again
    sent.add(span.partition, sent_back_of({.offset = nothing}, span));
    CHECK_FALSE(sent.contains(span.partition, 10));
  }
}

TEST_CASE("dlq: a row fits the terminal and controls no terminal, whatever the record has") {
  REQUIRE(
      rc::check("hostile", [](const std::string& text, const std::string& name, const std::string& value) {
        const auto any = letter({{"kafka_dlt-original-topic", text},
                                 {"kafka_dlt-exception-fqcn", name},
                                 {"kafka_dlt-exception-message", text},
                                 {name, value}},
                                value);
        for (const std::size_t width : {40, 41, 50, 60, 71, 72, 80, 133}) {
          const auto layout = layout_of("orders-dlt", 4, 1000, width);
          for (const auto& line : {table_heading(layout), table_row(any, {now, true}, layout)})
            RC_ASSERT(config::characters(line) <= width + 1);
          RC_ASSERT(harmless(table_row(any, {now, true}, layout)));
        }
        RC_ASSERT(harmless(table_row(any, {now, true}, layout_of("orders-dlt", 4, 1000, 0))));
        RC_ASSERT(harmless(json_line(any, false)));
        RC_ASSERT(harmless(full_text(any, {now, false}, 0)));
        RC_ASSERT(harmless(full_text(any, {now, false}, 5)));
      }));
}

TEST_CASE("dlq: no record turns the direction of a printed list or letter") {
  for (const std::string mark : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xd8\x9c", "\xe2\x80\x8f"}) {
    auto about = description();
    about.topic = "orders" + mark;
    about.text = "422 " + mark + "elcitra";
    about.consumer_group = "shop" + mark;
    const auto headers = dead_letter_headers({{"tenant" + mark, "a"}, {"tenant", "b" + mark}}, about,
                                             delivery::HeaderFamily::spring);
    kafka::RecordData data;
    data.topic = "orders-dlt";
    data.key = "key" + mark;
    data.value = "value" + mark;
    for (const auto& header : headers) data.headers.emplace_back(header.name, header.value);
    const Letter any{kafka::Record(data)};
    INFO(mark);
    for (const std::size_t width : {0, 40, 80})
      CHECK_THAT(table_row(any, {now, false}, layout_of("orders-dlt", 4, 1000, width)),
                 !Catch::Contains(mark));
    CHECK_THAT(full_text(any, {now, false}, 0), !Catch::Contains(mark) && Catch::Contains("elcitra"));
    CHECK_THAT(json_line(any, false), !Catch::Contains(mark));
  }
}

TEST_CASE("dlq: show prints numbers as numbers, text as text, and other bytes in hexadecimal") {
  auto text = full_text(letter(description(), {{"nothing", std::nullopt}}), {now, {}}, 0);
  for (const char* part :
       {"orders-dlt:1:17\n", "origin          orders:3:258\n", "text            422 unknown article\n",
        "attempts        2\n", "(60 s ago)", "  kafka_dlt-original-offset: 258\n", "  nothing: null\n",
        "key: 3 bytes\n  key\n", "value: 5 bytes\n  value\n"})
    CHECK_THAT(text, Catch::Contains(part));
  text = full_text(letter({}, std::string("ab\0\xFF", 4)), {now, {}}, 3);
  CHECK_THAT(text, Catch::Contains("value: 4 bytes, the first 3 of them\n  000000  61 62 00 "));
  CHECK_THAT(full_text(letter({}, "ééé"), {now, {}}, 3), Catch::Contains("the first 2 of them\n  é\n"));
}

TEST_CASE("dlq: show reports whether a record is a dead letter, and whether redrive has sent it back") {
  const auto shown = [](std::optional<bool> sent) { return full_text(letter(), {now, sent}, 0); };
  CHECK_THAT(shown(true), Catch::Contains("\nredrive         has sent this letter back\n"));
  CHECK_THAT(shown(false), Catch::Contains("\nredrive         has not sent this letter back\n"));
  CHECK_THAT(shown({}), Catch::Contains("\nredrive         not known whether this letter was sent back\n"));
  const auto original = full_text(letter(delivery::Headers{}), {now, false}, 0);
  CHECK_THAT(original, Catch::Contains("This record is not a dead letter") &&
                           Catch::Contains("`laneway dlq list --origin orders-dlt:1:17`") &&
                           !Catch::Contains("origin    "));
}

TEST_CASE("dlq: a letter goes to its origin, or stays for a reason") {
  const Targets targets{
      {"orders", {8, {}, {}}}, {"small", {2, {}, {}}}, {"gone", {0, "topic gone does not exist", {}}}};
  Options options;
  const auto decided = [&](auto change) {
    auto about = description();
    change(about);
    return judge(letter(about), options, targets);
  };
  const auto same = decided([](auto&) {});
  REQUIRE(same.to);
  CHECK(same.to->topic == "orders");
  CHECK(same.to->partition == 3);
  CHECK(decided([](auto& about) { about.topic = "small"; }).to->partition == kafka::any_partition);
  CHECK_THAT(decided([](auto& about) { about.topic = "payroll"; }).left, Catch::Contains("payroll"));
  CHECK_THAT(decided([](auto& about) { about.topic = "gone"; }).left, Catch::Contains("does not exist"));
  CHECK_THAT(judge(letter(delivery::Headers{}), options, targets).left, Catch::Contains("not a dead letter"));
  const auto often = [&](const char* count) { return letter(description(), {{"laneway-redrives", count}}); };
  CHECK(judge(often("2"), options, targets).to);
  CHECK_THAT(judge(often("3"), options, targets).left, Catch::Contains("3 times"));
  auto cut = often("0").headers;
  cut.push_back({"laneway-truncated", "100"});
  CHECK_THAT(judge(letter(cut), options, targets).left, Catch::Contains("cut"));
  options.to = "small";
  CHECK(decided([](auto& about) { about.topic = "payroll"; }).to->topic == "small");
  CHECK(decided([](auto& about) { about.partition = 0; }).to->partition == kafka::any_partition);
  options.filter.origin = cli::Place{"refunds", {}, {}};
  CHECK_THAT(decided([](auto&) {}).left, Catch::Contains("filter"));
}

TEST_CASE("dlq: a letter that Kafka would delete at once stays, unless it gets a new time") {
  Targets targets{{"orders", {8, {}, now - 90'000}}};
  Options options;
  CHECK(judge(letter(), options, targets).to);
  targets["orders"].oldest = now - 89'999;
  CHECK_THAT(judge(letter(), options, targets).left, Catch::Contains("retention"));
  options.present_time = true;
  CHECK(judge(letter(), options, targets).to);
}

TEST_CASE("dlq: letters that MapRoom admits fit into the metadata of a commit") {
  REQUIRE(rc::check("map room", [] {
    const auto scale = *rc::gen::inRange(1, 30);
    const auto part = *rc::gen::inRange(1, 100);
    lane::Ledger ledger(0);
    MapRoom room;
    std::int64_t offset = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
    std::uint64_t refused = 0, runs = 0;
    auto random = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1'000'000));
    const auto next = [&] { return (random = random * 6364136223846793005U + 1442695040888963407U) >> 33; };
    for (int i = 0; i < 8000; ++i) {
      const auto sequence = ledger.append(offset);
      const bool wanted = static_cast<int>(next() % 100) < part;
      if (wanted && room.has_room_for(offset)) {
        room.sent(offset);
        ledger.complete(sequence);
      } else {
        refused += wanted;
        room.left(offset);
      }
      offset += 1 + static_cast<std::int64_t>(next() % (std::uint64_t{1} << scale));
    }
    const lane::StoredCommit commit{.offset = ledger.committable(), .map = ledger.completed(100'000)};
    RC_ASSERT(lane::StoredCommit::read(commit.written()).map == commit.map);
    runs = commit.map.runs.size();
    RC_ASSERT(refused == 0 || runs > 200);  // it is used before it refuses
  }));
}

TEST_CASE("dlq: the progress bar is never wider than a terminal and ends full") {
  CHECK_THAT(progress_line(10, 10, 10, seconds(2)), Catch::Contains("[============================] 100 %"));
  REQUIRE(rc::check("bar", [](std::uint64_t done, std::uint64_t all, std::uint64_t sent) {
    RC_ASSERT(progress_line(done, all, sent, seconds(*rc::gen::inRange(0, 1'000'000))).size() < 80);
  }));
}

TEST_CASE("dlq: the summary has the counts and the next step") {
  Options options;
  Summary summary;
  CHECK(summary_text(summary, options) == "nothing to send\n");
  summary.sent["orders"] = 12;
  summary.left["cut"] = 3;
  CHECK(summary_text(summary, options) ==
        "        12  would be sent to orders\n         3  left: cut\nnothing was sent; add --yes to send\n");
  summary.sent_before = 4;
  CHECK_THAT(summary_text(summary, options),
             Catch::Contains("         4  already sent back by an earlier redrive\nnothing was sent;"));
  options.yes = true;
  CHECK(summary_text(summary, options) == "        12  sent to orders\n         3  left: cut\n");
  summary.interrupted = true;
  CHECK_THAT(summary_text(summary, options), Catch::Contains("run the same command again"));
  summary = {{}, {}, false, true, {}};
  CHECK(summary_text(summary, options) ==
        "Another redrive of these dead letters took over and will continue. If you did not start another "
        "redrive, the brokers were unreachable: run the same command again to continue.\n");
}
