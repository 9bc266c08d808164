// status, suspend, resume and skip on the command line: what is asked for, and the table.
#include <algorithm>
#include <sstream>

#include "app/cli/terminal.h"
#include "app/control/endpoint.h"
#include "app/control/options.h"
#include "app/control/table.h"
#include "catch.h"
#include "config/text.h"
#include "lane/state/hold_reasons.h"

using namespace laneway;

namespace {

std::string lane_json(const std::string& topic, int partition, const std::string& state, long lag,
                      const std::string& more = {}) {
  return R"({"topic":")" + topic + R"(","partition":)" + std::to_string(partition) + R"(,"state":")" + state +
         R"(","suspended":false,"hold_reasons":[],"lag":)" + (lag < 0 ? "null" : std::to_string(lag)) +
         R"(,"finished_beyond_commit":40,"in_flight":8,"queued":256,"waiting_retries":3,"stuck":0,)" +
         R"("oldest":null,"committed":12345,"rate":12.34)" + more + "}";
}

std::string status_json(const std::string& lanes, const std::string& reasons = {}) {
  return R"({"version":"0.1.0","group":"orders-webhook","uptime_seconds":200.5,"members":2,"ready":)" +
         std::string(reasons.empty() ? "true" : "false") + R"(,"reasons":[)" + reasons +
         R"(],"breaker":null,"lanes":[)" + lanes + "]}";
}

std::vector<std::string> lines(const std::string& json, const control::TableStyle& style = {.columns = 80}) {
  const auto text = control::render_status(json, style);
  REQUIRE(text);
  std::vector<std::string> all;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("named pools have a table of their own above the lanes") {
  auto json = status_json(lane_json("orders", 3, "running", 120));
  json.insert(
      json.size() - 1,
      R"(,"pools":[{"name":"critical","running":31,"workers":64,"queued":7,"waiting":123456789,)"
      R"("retries":2,"oldest_seconds":12.5,"rate":99.51,"breaker":{"state":"closed"}},)"
      R"({"name":"deliver","running":0,"workers":16,"queued":0,"waiting":0,"retries":0,)"
      R"("oldest_seconds":0.0,"rate":0.0,"breaker":{"state":"open"},"subscribers":{"known":40,"out":2}}])");
  const auto table = lines(json);
  REQUIRE(table.size() == 8);
  CHECK(table[2] == "pool           breaker       running queued waiting retries oldest rec/s     out");
  CHECK(table[3] == "deliver        open             0/16      0       0       0    0 s   0.0    2/40");
  CHECK(table[4] == "critical       closed          31/64      7 123456k       2   12 s  99.5       -");
  CHECK(table[5].empty());
  CHECK(table[6].starts_with("lane "));
}

TEST_CASE(
    "a pool in trouble comes first, with its subscribers, and the lanes that wait for it are not green") {
  const std::string more =
      R"(,"waiting_for_pools":1010,"pools_out":[{"pool":"acme","waiting":1010,"text":"the pool acme is out: )"
      R"(1010 records of this lane wait"}],"last_error":{"record":"orders:1:4","attempt":1,"time":"", "error":"refused"})";
  auto json = status_json(lane_json("orders", 0, "running", 120) + "," +
                          lane_json("orders", 1, "running", 120, more));
  const std::string numbers =
      R"("workers":16,"queued":0,"waiting":7,"retries":0,"oldest_seconds":0.0,"rate":0.0,)";
  json.insert(
      json.size() - 1,
      R"(,"pools":[{"name":"beta","running":1,"trouble":"",)" + numbers +
          R"("breaker":{"state":"closed"}},)" +
          R"({"name":"acme","running":0,"waiting_retries":3,"trouble":"out since 14:02:11Z: its records wait",)" +
          numbers + R"("breaker":{"state":"open","since":"2026-01-02T14:02:11.007Z","reason":"refused"},)" +
          R"("subscribers":{"known":40,"out":2,"worst":[{"name":"bolt","state":"half_open","running":1,)" +
          R"("waiting":12,"parked":340,"text":"out since 14:02:11Z"},{"name":"dove","state":"closed",)" +
          R"("running":0,"waiting":3,"parked":0,"text":"is at its rate"}]}}],)" +
          R"("parked_orders":["records that were parked before 14:02:11Z come back at once"])");
  const auto table = lines(json, {.columns = 100});
  REQUIRE(table.size() == 15);
  CHECK(table[3] == "acme           open             0/16      0      10       0    0 s   0.0    2/40");
  CHECK_THAT(table[4], Catch::StartsWith("beta           closed           1/16      0       7 "));
  CHECK_THAT(table[7], Catch::StartsWith("orders:1       running     120       8    256    1013 "));
  CHECK_THAT(table[8], Catch::StartsWith("orders:0       running     120       8    256       3 "));
  CHECK(table[10] == "the pool acme: out since 14:02:11Z: its records wait");
  CHECK(table[11] == "acme: bolt (half open, 1 running, 12 waiting, 340 parked): out since 14:02:11Z");
  CHECK(table[12] == "acme: dove (closed, 0 running, 3 waiting): is at its rate");
  CHECK(table[13] == "order of an operator: records that were parked before 14:02:11Z come back at once");
  CHECK(table[14] == "orders:1 the pool acme is out: 1010 records of this lane wait");  // not again why
  const auto coloured = lines(json, {.colours = true, .columns = 100});
  CHECK_THAT(coloured[7], Catch::Contains("\033[33mrunning"));
  CHECK_THAT(coloured[8], Catch::Contains("\033[32mrunning"));
}

TEST_CASE("an adaptive limit stands above the table, and those of pools have their names") {
  auto json = status_json(lane_json("orders", 3, "running", 120));
  const std::string none = R"("breaker":null)";
  const std::string breaker =
      R"j("breaker":{"downstream":"shop:443","failures":"","limit":{"limit":24,"words":"24 calls at once, )j"
      R"j(between 2 and 64; lowered from 38 to 24 at 14:02:11Z: latency rose from 12 ms to 40 ms"}})j";
  json.replace(json.find(none), none.size(), breaker);
  const auto table = lines(json);
  CHECK(table[1] == "the downstream shop:443 gets 24 calls at once, between 2 and 64; lowered from 38");
  CHECK(table[2] == "  to 24 at 14:02:11Z: latency rose from 12 ms to 40 ms");
  CHECK(table[3].empty());
  const auto pool = [](const std::string& name, const std::string& limit) {
    return R"({"name":")" + name + R"(","running":0,"workers":16,"queued":0,"waiting":0,"retries":0,)" +
           R"("oldest_seconds":0.0,"rate":0.0,"breaker":{"state":"closed")" + limit + "}}";
  };
  json.insert(json.size() - 1,
              R"(,"pools":[)" + pool("fixed", "") + "," +
                  pool("deliver", R"(,"limit":{"words":"1 call at once, between 1 and 8"})") + "]");
  const auto named = lines(json);
  CHECK(named[1] == "the pool deliver gets 1 call at once, between 1 and 8");
  CHECK(named[2].empty());
  CHECK(named[3].starts_with("pool "));
}

TEST_CASE("a text names a lane, a topic or a record") {
  const auto topic = cli::parse_place("orders");
  REQUIRE(topic);
  CHECK(control::control_path(*topic, "pause") == "/lanes/orders/pause");
  const auto lane = cli::parse_place("my.orders_x-y:3");
  REQUIRE(lane);
  CHECK(control::control_path(*lane, "resume") == "/lanes/my.orders_x-y/3/resume");
  const auto record = cli::parse_place("orders:3:9223372036854775807");
  REQUIRE(record);
  CHECK(record->offset == 9223372036854775807);
  const auto same = [](const char* text, const char* path, std::optional<std::int64_t> offset) {
    const auto target = cli::parse_place(text);
    return target && control::control_path(*target, "skip") == path && target->offset == offset;
  };
  CHECK(same("orders[4]", "/lanes/orders/4/skip", {}));  // as other tools print them
  CHECK(same("orders[4]@10", "/lanes/orders/4/skip", 10));
  for (const auto* wrong : {"",
                            ":",
                            "orders:",
                            "orders:x",
                            "orders:-1",
                            "orders:3:",
                            "orders:3:4:5",
                            "or/ders",
                            "orders:3:-1",
                            "orders:2147483648",
                            ":3",
                            "a b",
                            "orders[",
                            "orders[4",
                            "orders]4[",
                            "orders[x]",
                            "orders[4]10",
                            "[4]",
                            "orders[4]@",
                            "orders[4]@1:2"}) {
    INFO(wrong);
    CHECK_FALSE(cli::parse_place(wrong));
  }
}

TEST_CASE("the table has a line for each lane") {
  const auto all = lines(status_json(lane_json("orders", 3, "running", 120)));
  REQUIRE(all.size() == 4);
  CHECK(all[0] == "laneway 0.1.0, group orders-webhook, up 3 m, 2 members, 1 lane, ready");
  CHECK(all[2] == "lane           state       lag running queued waiting oldest beyond rec/s dead/s");
  CHECK(all[3] == "orders:3       running     120       8    256       3      -     40  12.3    0.0");
}

TEST_CASE("rates of dead letters stand beside the rates of done records, their number and last error below") {
  const auto all = lines(status_json(lane_json(
      "orders", 3, "running", 120,
      R"(,"dead_letters":12,"dead_letter_rate":39.25,"last_error":{"record":"orders:3:17","attempt":8,)"
      R"("time":"2026-01-02T14:02:11.007Z","error":"HTTP 500 from shop:443"})")));
  REQUIRE(all.size() == 7);
  CHECK(all[3] == "orders:3       running     120       8    256       3      -     40  12.3   39.2");
  CHECK(all[5] == "orders:3 12 dead letters; last error at 2026-01-02T14:02:11.007Z, orders:3:17");
  CHECK(all[6] == "  (attempt 8): HTTP 500 from shop:443");
}

TEST_CASE("a past error is shown beside dead letters only") {
  const std::string last =
      R"(,"last_error":{"record":"orders:3:17","attempt":8,"time":"t","error":"HTTP 500","over":true})";
  CHECK(lines(status_json(lane_json("orders", 3, "running", 120, last))).size() == 4);
  const auto with_letters =
      lines(status_json(lane_json("orders", 3, "running", 120, R"(,"dead_letters":12)" + last)));
  REQUIRE(with_letters.size() == 6);
  CHECK(with_letters[5] == "orders:3 12 dead letters; last error at t, orders:3:17 (attempt 8): HTTP 500");
}

TEST_CASE("an error that is both the oldest record's and its lane's last error is printed once") {
  const auto with_last = [](const std::string& record) {
    return lines(status_json(
        R"({"topic":"a","partition":3,"state":"running","suspended":false,"hold_reasons":[],"lag":5,)"
        R"("in_flight":0,"queued":0,"waiting_retries":0,"stuck":0,"committed":17,"rate":0,)"
        R"("oldest":{"offset":17,"age_seconds":80.2,"attempts":5,"failed_attempt":4,"error":"HTTP 500"},"last_error":{"record":")" +
        record + R"(","attempt":4,"time":"2026-01-02T14:02:11.007Z","error":"HTTP 500"}})"));
  };
  const std::string last = "a:3 last error at 2026-01-02T14:02:11.007Z, a:3:";
  const auto same = with_last("a:3:17");
  REQUIRE(same.size() == 6);
  CHECK(same[5] == last + "17 (attempt 4): HTTP 500");
  const auto other = with_last("a:3:18");
  REQUIRE(other.size() == 7);
  CHECK(other[5] == "a:3 a:3:17 (attempt 4): HTTP 500");
  CHECK(other[6] == last + "18 (attempt 4): HTTP 500");
}

TEST_CASE("an oldest record without an attempt that counts has an error and no number") {
  const auto all = lines(status_json(
      R"({"topic":"a","partition":3,"state":"held","suspended":false,"lag":5,)"
      R"("hold_reasons":[{"code":"rate_limited","cause":"limit","text":"rate limit"}],)"
      R"("in_flight":0,"queued":0,"waiting_retries":0,"stuck":0,"committed":17,"rate":0,)"
      R"("oldest":{"offset":17,"age_seconds":80.2,"attempts":1,"failed_attempt":1,"error":"HTTP 429"}})"));
  REQUIRE(all.size() == 6);
  CHECK(all[5] == "a:3 held: rate limit; a:3:17 (attempt 1): HTTP 429");
}

TEST_CASE("a downstream that fails for some calls stands above the table, and an outage in the reason") {
  auto json = status_json(lane_json("orders", 3, "running", 120));
  const std::string breaker =
      R"j("breaker":{"downstream":"shop:443","failures":"fails for 3 % of calls: HTTP 500 (12)"})j";
  const std::string none = R"("breaker":null)";
  json.replace(json.find(none), none.size(), breaker);
  CHECK(lines(json)[1] == "the downstream shop:443 fails for 3 % of calls: HTTP 500 (12)");
  auto stalled =
      status_json(lane_json("orders", 3, "held", 120), R"({"code":"stalled","text":"no progress"})");
  stalled.replace(stalled.find(none), none.size(), breaker);
  CHECK(lines(stalled)[2] == "the downstream shop:443 fails for 3 % of calls: HTTP 500 (12)");
  auto out =
      status_json(lane_json("orders", 3, "held", 120), R"({"code":"breaker_open","text":"it is out"})");
  out.replace(
      out.find(none), none.size(),
      R"j("breaker":{"downstream":"shop:443","since":"2026-01-02T14:02:11.007Z","failures":"fails"})j");
  CHECK(lines(out)[1] == "NOT READY: it is out");
  CHECK(lines(out)[2].empty());
}

TEST_CASE("a lane that waits for an open transaction is shown with its place") {
  const auto all = lines(status_json(lane_json("a", 1, "running", 5, R"(,"open_transaction":42)")));
  CHECK(all[5] == "a:1 waits at offset 42 for an open transaction of another producer");
}

TEST_CASE("a silent partition is shown with the time of its silence") {
  const auto all = lines(status_json(lane_json("a", 0, "held", 500) + "," +
                                     lane_json("a", 1, "running", 5, R"(,"silent_seconds":95.5)") + "," +
                                     lane_json("a", 2, "draining", 5, R"(,"silent_seconds":0.5)")));
  CHECK(all[3].starts_with("a:1            silent "));
  CHECK(all[4].starts_with("a:0            held "));
  CHECK(all[5].starts_with("a:2            draining "));
  CHECK(all[7] == "a:1 silent for 95 s: its log has more records, and none are delivered");
}

TEST_CASE("lasting trouble comes first, by its kind, and other lanes keep their places whatever their lag") {
  const auto lane = [](int partition, const std::string& state, long lag, const std::string& more = {}) {
    return lane_json("a", partition, state, lag, more) + ",";
  };
  const auto order = [&](const std::string& lanes) {
    const std::string reason = R"({"code":"stalled","topic":"a","partition":3,"text":"a:3 stalled"})";
    const auto all = lines(status_json(lanes + lane_json("a", 10, "running", 7), reason));
    std::string found;
    for (std::size_t i = 4; i < all.size() && !all[i].empty(); ++i)
      found += all[i].substr(2, all[i].find(' ') - 2) + ' ';
    return found;
  };
  std::string stuck = lane(6, "running", 1), suspended = lane(5, "paused", 1);
  stuck.replace(stuck.find(R"("stuck":0)"), 9, R"("stuck":1)");
  suspended.replace(suspended.find(R"("suspended":false)"), 17, R"("suspended":true)");
  std::string blocked = lane(7, "running", 1), failing = lane(8, "running", 1);
  const auto oldest = [](std::string& json, const char* age) {
    json.replace(
        json.find(R"("oldest":null)"), 13,
        std::string(R"("oldest":{"offset":1,"attempts":1,"failed_attempt":1,"error":"x","age_seconds":)") +
            age + "}");
  };
  oldest(blocked, "60.5");
  oldest(failing, "59.5");
  const auto troubled = lane(9, "running", 1, R"(,"silent_seconds":9.5)") + stuck + suspended + blocked;
  CHECK(order(lane(0, "running", 5) + lane(1, "held", 500) + lane(2, "paused", 1) + lane(3, "held", 1) +
              lane(4, "running", -1) + troubled + failing) == "6 9 3 7 5 0 1 2 4 8 10 ");
  CHECK(order(lane(4, "held", 9000) + lane(2, "running", 0) + lane(1, "running", 1) +
              lane(0, "running", 0)) == "0 1 2 4 10 ");
}

TEST_CASE("no line is wider than 80 columns, whatever the numbers, names and errors") {
  const std::string huge =
      R"({"topic":")" + std::string(249, 't') +
      R"(","partition":123456,"state":"draining","suspended":false,)"
      R"("hold_reasons":[{"code":"pool_full","cause":"limit","text":"pool full"}],)"
      R"("lag":9223372036854775807,"in_flight":4000000000,"queued":4000000000,"waiting_retries":99999999,"stuck":0,)"
      R"("oldest":{"offset":9223372036854775807,"age_seconds":123456789.0,"attempts":4000000000,"failed_attempt":4000000000,"error":")" +
      std::string(500, 'e') + R"("},"committed":9223372036854775807,"rate":123456789.0})";
  for (const auto& line :
       lines(status_json(huge, R"({"code":"x","text":")" + std::string(300, 'r') + "\"}"))) {
    INFO(line);
    CHECK(config::characters(line) <= 80);
  }
}

TEST_CASE("a hold's reason and the oldest record's error stand below the table, and control no terminal") {
  const auto all = lines(status_json(
      R"({"topic":"orders","partition":3,"state":"held","suspended":false,"lag":5,)"
      R"("hold_reasons":[{"code":"pool_full","cause":"limit","text":"pool full"}],)"
      R"("in_flight":0,"queued":0,"waiting_retries":0,"stuck":0,)"
      R"("finished_beyond_commit":16,"oldest":{"offset":17,"age_seconds":80.2,"attempts":5,"failed_attempt":4,"error":"HTTP \u001b[31m500"},"committed":17,"rate":0})",
      R"({"code":"stalled","topic":"orders","partition":3,"text":"orders:3 has made no progress"})"));
  CHECK(all[1] == "NOT READY: orders:3 has made no progress");
  CHECK(all[4] == "orders:3       held          5       0      0       0   80 s     16   0.0    0.0");
  CHECK(all[6] == "orders:3 held: pool full; orders:3:17 (attempt 4): HTTP [31m500");
  for (const auto& line : all) CHECK(line.find('\033') == std::string::npos);
}

TEST_CASE("some of the advice stands below the table, and a service without advice is shown, too") {
  auto json = status_json(lane_json("orders", 3, "running", 120));
  json.insert(
      json.size() - 1,
      R"j(,"advice":["lanes.workers 8 -> 12: all busy 71 % of the last 5 min (orders:3)","b","c","d"])j");
  const auto all = lines(json);
  REQUIRE(all.size() == 9);
  CHECK(all[5] == "advice: lanes.workers 8 -> 12: all busy 71 % of the last 5 min (orders:3)");
  CHECK(all[7] == "advice: c");
  CHECK(all[8] == "and 1 more (--json)");
  CHECK(lines(json, {}).back() == "advice: d");
  CHECK(lines(json, {.rows = 10, .columns = 80}).size() < 10);
}

TEST_CASE("a long reason is wrapped, and cut after some lines") {
  std::string words;
  for (int i = 0; i < 25; ++i) words += " word" + std::to_string(i);
  const auto all = lines(status_json("", R"({"code":"x","text":")" + words + words + words + "\"}"));
  CHECK(all[1] == "NOT READY: word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10");
  CHECK(all[2].starts_with("  word11 word12"));
  CHECK(all[6].ends_with("…"));
  CHECK(all[7].empty());
}

TEST_CASE("words that a long name leaves no room for are wrapped") {
  const std::string name = "payments-of-the-european-shops-with-invoices";
  auto json = status_json(
      R"({"topic":")" + name +
      R"(","partition":3,"state":"held","suspended":false,"lag":5,)"
      R"("hold_reasons":[{"code":"pool_full","cause":"limit","text":"pool full"}],)"
      R"("in_flight":0,"queued":0,"waiting_retries":0,"stuck":0,)"
      R"("oldest":{"offset":17,"age_seconds":80.2,"attempts":5,"failed_attempt":4,"error":"HTTP 500"},"committed":17,"rate":0})");
  const std::string group = "orders-webhook";
  json.replace(json.find(group), group.size(), name);
  const auto all = lines(json);
  REQUIRE(all.size() == 8);
  CHECK(all[0] == "laneway 0.1.0, group " + name + ", up 3 m, 2");
  CHECK(all[1] == "  members, 1 lane, ready");
  CHECK(all[6] == name + ":3 held: pool full;");
  CHECK(all[7] == "  " + name + ":3:17 (attempt 4): HTTP 500");
}

TEST_CASE("a wide terminal has room for a long name, and output to a pipe is neither cut nor wrapped") {
  const std::string name = "payments-of-the-european-shops-with-invoices";
  std::string words;
  for (int i = 0; i < 300; ++i) words += " word" + std::to_string(i);
  const auto json = status_json(lane_json(name, 3, "running", 120) + "," + lane_json("a", 0, "running", 1),
                                R"({"code":"x","text":"it failed)" + words + "\"}");
  const auto wide = lines(json, {.columns = 120});
  CHECK(wide.back().starts_with(name + ":3 running     120"));
  CHECK(wide[1].size() > 100);
  const auto narrow = lines(json, {.columns = 20});
  CHECK(narrow.back().starts_with("…th-invoices:3 running"));
  const auto all = lines(json, {});
  CHECK(all[1] == "NOT READY: it failed" + words);
  CHECK(all[3] == "lane" + std::string(name.size() - 2, ' ') +
                      " state       lag running queued waiting oldest beyond rec/s dead/s");
  CHECK(all[4].starts_with("a:0 " + std::string(name.size() - 2, ' ') + " running "));
  CHECK(all[5].starts_with(name + ":3 running     120"));
}

TEST_CASE("lanes in trouble that a terminal does not show are counted, and a pipe gets all of them") {
  std::string many;
  for (int i = 0; i < 9; ++i)
    many += (i > 0 ? "," : "") + lane_json("a", i, "running", 1,
                                           R"(,"source_error":"no route","last_error":{"record":"a:0:1",)"
                                           R"("attempt":1,"time":"t","error":"HTTP 500"})");
  const auto on_terminal = lines(status_json(many));
  CHECK(on_terminal.size() == 3 + 9 + 1 + 6 + 3 + 1);
  CHECK(on_terminal.back() == "and 9 more (--json)");
  const auto in_pipe = lines(status_json(many), {});
  CHECK(in_pipe.size() == 3 + 9 + 1 + 9 + 9);
  CHECK(in_pipe.back() == "a:8 last error at t, a:0:1 (attempt 1): HTTP 500");
}

namespace {

using lane::Hold;

std::string reasons_json(const std::vector<Hold>& held) {
  std::string all;
  for (const auto hold : held) {
    const auto& row = lane::row_of(hold);
    all += std::string(all.empty() ? "" : ",") + R"({"code":")" + row.code + R"(","cause":")" +
           name_of(row.cause) + R"(","text":")" + std::string(row.words) + "\"}";
  }
  return all;
}

/// A lane with a record that failed, and after it another one.
std::string failing_lane(int partition, const std::vector<Hold>& held, const std::string& error,
                         const std::string& more = {}) {
  auto lane = lane_json(
      "a", partition, "held", 5,
      R"(,"last_error":{"record":"a:0:99","attempt":1,"time":"t","error":")" + error + "\"}" + more);
  lane.insert(lane.find(R"([],"lag")") + 1, reasons_json(held));
  lane.replace(lane.find(R"("oldest":null)"), 13,
               R"("oldest":{"offset":17,"age_seconds":80.2,"attempts":1,"failed_attempt":1,"error":")" +
                   error + "\"}");
  return lane;
}

std::string in_outage(std::string json) {
  const std::string none = R"("breaker":null)";
  return json.replace(json.find(none), none.size(),
                      R"("breaker":{"downstream":"shop:443","since":"t","reason":"HTTP 503"})");
}

}  // namespace

TEST_CASE("the reason of an outage is not repeated for each lane") {
  const auto lanes = failing_lane(0, {Hold::breaker_open}, "HTTP 502") + "," +
                     failing_lane(1, {Hold::pool_full}, "HTTP 503") + "," +
                     failing_lane(2, {Hold::breaker_open, Hold::rate_limited}, "HTTP 503") + "," +
                     failing_lane(3, {}, "HTTP 400");
  const auto all = lines(in_outage(status_json(lanes)));
  REQUIRE(all.size() == 3 + 4 + 1 + 4);
  CHECK(all[8] == "a:1 held: pool full");
  CHECK(all[9] == "a:2 held: rate limit");
  CHECK(all[10] == "a:3 a:3:17 (attempt 1): HTTP 400");
  CHECK(all[11] == "a:3 last error at t, a:0:99 (attempt 1): HTTP 400");
  const auto after = lines(status_json(failing_lane(0, {Hold::breaker_open}, "HTTP 502")));
  CHECK(after[5] == "a:0 held: breaker open; a:0:17 (attempt 1): HTTP 502");
}

TEST_CASE("an operator's suspension is not shown as the lane's own hold") {
  const auto all = lines(status_json(failing_lane(0, {Hold::pool_full, Hold::suspended}, "HTTP 400") + "," +
                                     failing_lane(1, {Hold::suspended}, "HTTP 400")));
  CHECK(all[6] == "a:0 held: pool full; a:0:17 (attempt 1): HTTP 400");
  CHECK(all[7] == "a:1 a:1:17 (attempt 1): HTTP 400");
}

TEST_CASE("a lane whose commits are blocked is shown as blocked, with the record that blocks them") {
  const std::string blocked = R"(,"commits_blocked":true)";
  auto slow = lane_json("a", 2, "running", 5, blocked);
  slow.replace(slow.find(R"("oldest":null)"), 13,
               R"("oldest":{"offset":40,"age_seconds":31,"place":"running","attempts":1})");
  const auto all = lines(status_json(lane_json("a", 0, "running", 5) + "," +
                                     failing_lane(1, {Hold::pool_full}, "HTTP 400", blocked) + "," + slow +
                                     "," + lane_json("a", 3, "draining", 5, blocked)));
  CHECK(all[3].starts_with("a:1            blocked "));
  CHECK(all[4].starts_with("a:2            blocked "));
  CHECK(all[5].starts_with("a:0            running "));
  CHECK(all[6].starts_with("a:3            draining "));
  CHECK(all[8] == "a:1 held: pool full; a:1:17 (attempt 1) blocks the commits: HTTP 400");
  CHECK(all[9] == "a:2 a:2:40 blocks the commits");
}

TEST_CASE("colours are used only on request, and the output fits the rows of a terminal") {
  std::string many = lane_json("a", 0, "held", 1);
  for (int i = 1; i < 50; ++i) many += "," + lane_json("a", i, "running", 1);
  const auto has_colours = [](const std::vector<std::string>& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const auto& line) { return line.find('\033') != std::string::npos; });
  };
  CHECK_FALSE(has_colours(lines(status_json(many))));
  CHECK(has_colours(lines(status_json(many), {.colours = true, .columns = 80})));
  CHECK(lines(status_json(many)).size() == 53);
  const auto few = lines(status_json(many), {.rows = 24, .columns = 80});
  CHECK(few.size() < 24);
  CHECK(few.back() == "and 31 lanes more, with a lag of 31");
}

TEST_CASE("no text of a service controls the terminal or turns the direction of text") {
  for (const std::string evil : {"\\u001b[2J",
                                 "\xc2\x9b"
                                 "2J",
                                 "\xe2\x80\xae"
                                 "cba",
                                 "\xe2\x81\xa7"}) {
    auto json = status_json(lane_json("a", 0, "running", 1),
                            R"({"code":"x","topic":"a","partition":0,"text":"reason"})");
    json.insert(json.size() - 1,
                R"(,"advice":["advice"],"pools":[{"name":"critical","running":1,"workers":1,"queued":0,)"
                R"("waiting":0,"retries":0,"oldest_seconds":0,"rate":0,"breaker":{"state":"closed"}}])");
    for (const std::string place :
         {"0.1.0", "orders-webhook", "reason", "\"a\"", "running", "critical", "closed", "\"advice\""}) {
      auto hostile = json;
      const auto end = place.size() - (place.ends_with('"') ? 1 : 0);
      for (auto at = hostile.find(place); at != hostile.npos; at = hostile.find(place, at + 1))
        hostile.insert(at + end, evil);
      for (const auto& style : {control::TableStyle{}, control::TableStyle{.columns = 80}}) {
        const auto text = control::render_status(hostile, style);
        if (!text) continue;  // a state that is unknown
        INFO(place);
        CHECK(*text == cli::safe_text(*text));
      }
    }
  }
}

TEST_CASE("foreign text is printed without control characters, and stays the same JSON") {
  CHECK(cli::safe_text("two\nlines\tand \xc3\xa4 \xd7\x90") == "two\nlines\tand \xc3\xa4 \xd7\x90");
  CHECK(cli::safe_text("\033[2J\r\x7f") == "\\u001b[2J\\u000d\\u007f");
  CHECK(cli::safe_text("\xc2\x9b\xd8\x9c\xe2\x80\xae\xe2\x81\xa6") == "\\u009b\\u061c\\u202e\\u2066");
  CHECK(cli::safe_text("\xff") == "\\xff");
}

TEST_CASE("text that is not a status is not shown") {
  for (const auto* text : {"", "{", "[]", "{}", "\"x\"", R"({"lanes":[{}]})", "<html>"})
    CHECK_FALSE(control::render_status(text, {}));
  CHECK_FALSE(control::render_status(status_json(R"({"topic":1})"), {}));
}

TEST_CASE("the status code of an answer decides the kind of the error") {
  CHECK(control::error_of({400, "bad\n"}).kind == ErrorKind::usage);
  CHECK(control::error_of({401, "token\n"}).kind == ErrorKind::configuration);
  CHECK(control::error_of({404, "no lane\n"}).kind == ErrorKind::no_input);
  CHECK(control::error_of({404, "no lane\n"}).message == "no lane");
  CHECK(control::error_of({409, "not now\n"}).kind == ErrorKind::unavailable);
  CHECK(control::error_of({500, "internal error\n"}).kind == ErrorKind::internal);
}
