// What a person reads when something is wrong. Each case is a whole message.
#include <algorithm>

#include "catch.h"
#include "loaded.h"

using namespace laneway;
using namespace laneway::config;

namespace {
/// Of `lines` below the 6 lines of the right base.
std::string below_base(const std::string& lines) { return errors_of(base + lines); }

std::string with_client_key(const std::string& line) {
  return errors_of("topics: [orders]\nhandler: log\nkafka:\n  bootstrap.servers: a\n  group.id: g\n  " +
                   line + "\n");
}

std::string with_handler(const std::string& handler) {
  return errors_of(base.substr(0, base.find("handler")) + "handler: " + handler + "\n");
}
}  // namespace

TEST_CASE("a misspelt key names the nearest key") {
  CHECK(below_base("lanes: { wrokers: 3 }\n") ==
        "f.yaml:7:10: lanes.wrokers: this key does not exist (did you mean lanes.workers?)\n");
  CHECK(below_base("workers: 3\n") ==
        "f.yaml:7:1: workers: this key does not exist (did you mean lanes.workers?)\n");
  CHECK(below_base("lane: { workers: 3 }\n") ==
        "f.yaml:7:1: lane: this key does not exist (did you mean lanes?)\n");
  CHECK(below_base("xylophone: 3\n") ==
        "f.yaml:7:1: xylophone: this key does not exist (laneway help keys prints all keys)\n");
  CHECK(with_client_key("gruop.instance.id: x") ==
        "f.yaml:6:3: kafka.gruop.instance.id: this key does not exist (did you mean "
        "kafka.group.instance.id?)\n");
  CHECK(with_handler("{ htpp: { url: x } }") ==
        "f.yaml:5:12: handler.htpp: this key does not exist (did you mean handler.http?)\n");
  CHECK(with_handler("htpp") ==
        "f.yaml:5:10: handler: found \"htpp\" (expected one of log, simulate, http, exec, plugin, produce, "
        "fan_out, with the settings of the handler below it)\n");
}

TEST_CASE("a misspelt required key is not reported as missing, too") {
  CHECK(errors_of("kafka: { bootstrap.server: a, group.id: b }\ntopic: [a]\nhandler: log\n") ==
        "f.yaml:1:10: kafka.bootstrap.server: this key does not exist (did you mean "
        "kafka.bootstrap.servers?)\nf.yaml:2:1: topic: this key does not exist (did you mean topics?)\n");
}

TEST_CASE("a misspelt variable or --set names the nearest key in the same style") {
  CHECK(errors_of(base, {{"LANEWAY_LANES__WROKERS", "3"}}) ==
        "LANEWAY_LANES__WROKERS: this key does not exist (did you mean LANEWAY_LANES__WORKERS?)\n");
  CHECK(errors_of(base, {{"LANEWAY_KAFKA__GRUOP_ID", "3"}}) ==
        "LANEWAY_KAFKA__GRUOP_ID: this key does not exist (did you mean LANEWAY_KAFKA__GROUP_ID?)\n");
  CHECK(errors_of(base, {{"LANEWAY_LANES_WORKERS", "3"}}) ==
        "LANEWAY_LANES_WORKERS: this key does not exist (did you mean LANEWAY_LANES__WORKERS?)\n");
  CHECK(errors_of(base, {{"LANEWAY_HOME_OF_ALL", "3"}}) ==
        "LANEWAY_HOME_OF_ALL: this key does not exist (the variable of lanes.workers is "
        "LANEWAY_LANES__WORKERS: two underscores for a dot)\n");
  CHECK(errors_of(base, {}, {"lanes.wrokers=3"}) ==
        "--set lanes.wrokers: this key does not exist (did you mean lanes.workers?)\n");
}

TEST_CASE("a --set that is not an assignment, or that names a group, is refused") {
  CHECK(errors_of(base, {}, {"lanes.workers", "=3", "lanes={workers: 3}", "lanes.workers="}) ==
        "--set lanes.workers: expected KEY=VALUE (such as --set lanes.workers=16)\n--set =3: expected "
        "KEY=VALUE (such as --set lanes.workers=16)\n--set lanes: this is a group of keys (name one key of "
        "the group, such as lanes.workers)\n--set lanes.workers: found \"\" (expected a whole number from 1 "
        "to 4096, or { min, max, algorithm })\n");
  CHECK(errors_of(base, {}, {"topics=[a, ["}).starts_with("--set topics: found \"[a, [\": "));
}

TEST_CASE("a key that is listed twice is refused at every depth") {
  CHECK(below_base("topics: [x]\n") ==
        "f.yaml:7:1: topics: this key is set twice (remove one; the first is in line 4)\n");
  CHECK(below_base("lanes: { workers: 3, queue: 1, workers: 4 }\n") ==
        "f.yaml:7:32: lanes.workers: this key is set twice (remove one; the first is in line 7)\n");
  CHECK(with_handler("{ simulate: { sleep: { p50: 1s, p99: 2s, p50: 1s } } }") ==
        "f.yaml:5:51: handler.simulate.sleep.p50: this key is set twice (remove one; the first is in line "
        "5)\n");
}

TEST_CASE("a mistyped value is reported with the text found and the type expected") {
  CHECK(below_base("lanes: { workers: many }\n") ==
        "f.yaml:7:19: lanes.workers: found \"many\" (expected a whole number from 1 to 4096, or { min, max, "
        "algorithm })\n");
  CHECK(below_base("lanes: { workers: [8] }\n") ==
        "f.yaml:7:19: lanes.workers: found a list (expected a whole number from 1 to 4096, or { min, max, "
        "algorithm })\n");
  CHECK(below_base("lanes:\n  workers:\n") ==
        "f.yaml:8:3: lanes.workers: found no value (expected a whole number from 1 to 4096, or { min, max, "
        "algorithm })\n");
  CHECK(below_base("lanes: { drain: 20 }\n") ==
        "f.yaml:7:17: lanes.drain: found \"20\", which has no unit (expected a duration from 0s to 1h, such "
        "as 500ms, 2s or 1m)\n");
  CHECK(below_base("lanes: { memory: 1GB }\n") ==
        "f.yaml:7:18: lanes.memory: found \"1GB\", which has an unknown unit (expected a size from 1MiB to "
        "1TiB, such as 64MiB or 1GiB)\n");
  CHECK(below_base("lanes: { order: sorted }\n") ==
        "f.yaml:7:17: lanes.order: found \"sorted\" (expected one of none, key, partition)\n");
  CHECK(below_base("admin: { enabled: yes }\n") ==
        "f.yaml:7:19: admin.enabled: found \"yes\" (expected true or false)\n");
  CHECK(below_base("lanes: 5\n") ==
        "f.yaml:7:8: lanes: found \"5\" (expected a group of keys, indented below this key)\n");
  CHECK(with_client_key("socket.keepalive.enable: 1") ==
        "f.yaml:6:28: kafka.socket.keepalive.enable: found \"1\" (expected true or false)\n");
  CHECK(with_client_key("client.id: [a]") ==
        "f.yaml:6:14: kafka.client.id: found a list (expected one value; keys of the Kafka client are "
        "written with their dots, such as group.id: orders)\n");
}

TEST_CASE("a value out of range is refused") {
  const auto at_lanes = [](const std::string& key, const std::string& value) {
    return below_base("lanes: { " + key + ": " + value + " }\n");
  };
  CHECK(at_lanes("workers", "0") ==
        "f.yaml:7:19: lanes.workers: found \"0\", which is out of range (expected a whole number from 1 to "
        "4096, or { min, max, algorithm })\n");
  CHECK(at_lanes("workers", "4097").find("out of range") != std::string::npos);
  CHECK(at_lanes("queue", "99999999999999999999").find("out of range") != std::string::npos);
  CHECK(at_lanes("queue", "0").empty());
  CHECK(at_lanes("memory", "1023KiB").find("out of range") != std::string::npos);
  CHECK(at_lanes("pause_after", "61m").find("out of range") != std::string::npos);
  CHECK(below_base("consumers: 257\n").find("out of range") != std::string::npos);
  CHECK(with_client_key("session.timeout.ms: 0") ==
        "f.yaml:6:23: kafka.session.timeout.ms: found \"0\", which is out of range (expected a whole number "
        "from 1 to 3600000)\n");
  CHECK(with_handler("{ simulate: { fail: 1.01 } }").find("out of range") != std::string::npos);
  CHECK(with_handler("{ simulate: { hang: nan } }").find("expected a number from 0 to 1") !=
        std::string::npos);
}

TEST_CASE("a topic is a name that Kafka accepts, or one pattern") {
  const auto with_topics = [](const std::string& topics) {
    return errors_of("kafka: { bootstrap.servers: a, group.id: b }\nhandler: log\ntopics: " + topics + "\n");
  };
  const std::string expected = " (expected a list of topic names, or one pattern that starts with ^)\n";
  CHECK(with_topics("[\"^ord.*\"]").empty());
  CHECK(with_topics("orders").empty());
  CHECK(with_topics("[]") == "f.yaml:3:9: topics: found an empty list: the list is empty" + expected);
  CHECK(with_topics("[a, \"^b\"]") ==
        "f.yaml:3:9: topics: found a list: a pattern must be the only topic; combine them in one pattern, "
        "such as ^(orders|payments.*)$" +
            expected);
  CHECK(with_topics("[a, b c]") ==
        "f.yaml:3:13: topics: found \"b c\", which contains a character other than letters, digits, dot, "
        "underscore and hyphen" +
            expected);
  CHECK(with_topics("[a, b, a]") == "f.yaml:3:9: topics: found a list: \"a\" is listed twice" + expected);
  CHECK(with_topics("[a, [b]]") ==
        "f.yaml:3:13: topics: found a list: an element of the list is not a single value" + expected);
  CHECK(with_topics("[^]").find("the pattern is empty") != std::string::npos);
  for (const char* pattern : {"[\"^(\"]", "[\"^a[\"]", "[\"^*a\"]"}) {
    CAPTURE(pattern);
    CHECK(with_topics(pattern).find("the pattern does not compile (POSIX extended syntax): ") !=
          std::string::npos);
  }
  for (const char* pattern : {"[\"^.*\"]", "[\"^__\"]", "[\"^orders|offsets$\"]"}) {
    CAPTURE(pattern);
    CHECK(with_topics(pattern).find(
              "the pattern also matches __consumer_offsets, to which each commit adds a record") !=
          std::string::npos);
  }
  CHECK(with_topics("[\"^[^_]\"]").empty());
  CHECK(with_topics("[__consumer_offsets]").empty());
  CHECK(with_topics("[..]").find("Kafka does not allow this name") != std::string::npos);
  CHECK(with_topics("[" + std::string(250, 'a') + "]").find("longer than 249") != std::string::npos);
}

TEST_CASE("a refused URL is shown without its possible secrets") {
  for (const char* url : {"htp://u:canary@h/", "http://u:ca/nary canary@h/", "u:canary@h",
                          "http://u:?canary@h:x", "http://h:x/?token=canary", "http://h:x/#canary"}) {
    INFO(url);
    const auto error = with_handler("{ http: { url: \"" + std::string(url) + "\" } }");
    CHECK(error.find("handler.http.url: found \"") != error.npos);
    CHECK(error.find("canary") == error.npos);
  }
}

TEST_CASE("the settings of each handler are checked") {
  CHECK(with_handler("http") ==
        "f.yaml:5:10: handler.http.url: this key is missing (the URL that receives the records, such as "
        "http://127.0.0.1:8080/orders)\n");
  CHECK(with_handler("{ http: { timeout: 1s } }").find("handler.http.url: this key is missing") !=
        std::string::npos);
  CHECK(with_handler("{ http: { url: \"ftp://h\" } }") ==
        "f.yaml:5:25: handler.http.url: found \"ftp://h\", which does not start with http:// or https:// "
        "(expected a URL that starts with http:// or https://)\n");
  for (const char* url :
       {"http://", "http:///p", "http://h:x/", "http://h:70000/", "http://h/a b", "http://u@"})
    CHECK(with_handler("{ http: { url: \"" + std::string(url) + "\" } }").find("handler.http.url: found") !=
          std::string::npos);
  for (const char* url : {"https://h", "http://[::1]:80/p", "http://u:p@h.example:8080?q#f", "HTTP://h"})
    CHECK(with_handler("{ http: { url: \"" + std::string(url) + "\" } }").empty());
  for (const char* name : {"User-Agent", "accept", "Proxy-Authorization", "Kafka-Key", "traceparent"})
    CHECK(with_handler("{ http: { url: \"http://h\", headers: [" + std::string(name) + "] } }")
              .find("laneway or HTTP sets this header itself") != std::string::npos);
  CHECK(with_handler("{ http: { url: \"http://h\", headers: [x-a, Content-Length] } }") ==
        "f.yaml:5:52: handler.http.headers: found \"Content-Length\": laneway or HTTP sets this header "
        "itself (expected a list of header names that HTTP allows)\n");
  CHECK(with_handler("{ http: { url: \"http://h\", timeout: 0s } }").find("out of range") !=
        std::string::npos);
  CHECK(with_handler("{ http: { url: \"http://h\", content_type: \"a\\nb: c\" } }").find("may not contain") !=
        std::string::npos);
  CHECK(with_handler("{ http: { url: \"http://h\" }, log: {} }") ==
        "f.yaml:5:44: handler.log: the handler http is set already, and a service has one handler (remove "
        "one of the two; --set handler=log replaces the handler of the file)\n");
  CHECK(with_handler("{ log: 5 }") ==
        "f.yaml:5:17: handler.log: found \"5\" (expected a group of keys, or {})\n");
  CHECK(with_handler("") ==
        "f.yaml:5:1: handler: found no value (expected one of log, simulate, http, exec, plugin, produce, "
        "fan_out, with the settings of the handler below it)\n");
}

TEST_CASE("a program to run is a list of words") {
  CHECK(with_handler("exec") ==
        "f.yaml:5:10: handler.exec.command: this key is missing (a program and its arguments, such as "
        "[python3, handler.py])\n");
  CHECK(with_handler("{ exec: { timeout: 1s } }").find("handler.exec.command: this key is missing") !=
        std::string::npos);
  const auto with_command = [](const std::string& command) {
    return with_handler("{ exec: { command: " + command + " } }");
  };
  const std::string expected = " (expected a list: a program and its arguments)\n";
  CHECK(with_command("\"python3 x.py\"") ==
        "f.yaml:5:29: handler.exec.command: found \"python3 x.py\": no shell splits this line into words; "
        "write each word by itself: [\"python3\", \"x.py\"] (expected a list: a program and its arguments; "
        "write command: [python3, x.py])\n");
  CHECK(with_command("[]").find("found an empty list: the list is empty" + expected) != std::string::npos);
  CHECK(with_command("[/bin/sh, \"a\\0b\"]").find("zero byte") != std::string::npos);
  CHECK(with_command("[/bin/sh, -c, \"cat; echo $1 | x\", \"\"]").empty());
  CHECK(with_command("[/bin/sh], framing: xml").find("expected one of json, binary") != std::string::npos);
  CHECK(with_command("[/bin/sh], timeout: 0s").find("out of range") != std::string::npos);
}

TEST_CASE("the sleep of simulate is a duration or two percentiles") {
  const auto with_sleep = [](const std::string& sleep) {
    return with_handler("{ simulate: { sleep: " + sleep + " } }");
  };
  const std::string expected =
      " (expected a duration up to 1h, or { p50: 5ms, p99: 100ms } for log-normal ones)\n";
  CHECK(with_sleep("{ p50: 1s }") ==
        "f.yaml:5:31: handler.simulate.sleep: found a map: p50 and p99 are both needed" + expected);
  CHECK(with_sleep("{ p50: 2s, p99: 1s }") ==
        "f.yaml:5:31: handler.simulate.sleep: found a map: p50 must be above 0, and not above p99" +
            expected);
  CHECK(with_sleep("{ p50: 2s, p95: 1s }") ==
        "f.yaml:5:42: handler.simulate.sleep: found \"p95\": this key does not exist" + expected);
  CHECK(with_sleep("{ p50: 2, p99: 1s }") ==
        "f.yaml:5:38: handler.simulate.sleep: found \"2\", which has no unit" + expected);
  CHECK(with_sleep("[1s]") == "f.yaml:5:31: handler.simulate.sleep: found a list" + expected);
}

TEST_CASE("the address of the admin interface has a host and a port") {
  const auto with_listen = [](const std::string& listen) {
    return below_base("admin: { listen: \"" + listen + "\" }\n");
  };
  CHECK(with_listen("9644") ==
        "f.yaml:7:18: admin.listen: found \"9644\", which has no host; write 127.0.0.1:9644 or 0.0.0.0:9644 "
        "(expected HOST:PORT or HOST:FIRST-LAST; port 0 takes a free port)\n");
  CHECK(with_listen("127.0.0.1:0").empty());
  CHECK(with_listen("127.0.0.1:9644-9743").empty());
  for (const auto* range : {"127.0.0.1:9644-9744", "127.0.0.1:9644-9643", "127.0.0.1:0-9", "127.0.0.1:1-"})
    CHECK_THAT(with_listen(range),
               Catch::Contains("the ports are not") || Catch::Contains("the last port is not"));
  CHECK(with_listen("[::1]:9644").empty());
  CHECK(with_listen("::1:9644").find("needs brackets") != std::string::npos);
  CHECK(with_listen(":9644").find("which has no host") != std::string::npos);
  CHECK(with_listen("h:65536").find("the port is not") != std::string::npos);
}

TEST_CASE("client keys that laneway owns, or that run code, are refused with the reason") {
  CHECK(with_client_key("enable.auto.commit: false") ==
        "f.yaml:6:3: kafka.enable.auto.commit: laneway does not accept this key: laneway commits finished "
        "records itself (use commit.interval and commit.every instead)\n");
  CHECK(with_client_key("queued.min.messages: 1") ==
        "f.yaml:6:3: kafka.queued.min.messages: laneway does not accept this key: laneway sizes the fetch "
        "buffers of all partitions together (use lanes.memory instead)\n");
  CHECK(with_client_key("plugin.library.paths: /x.so") ==
        "f.yaml:6:3: kafka.plugin.library.paths: laneway does not accept this key: the key would run code "
        "inside laneway (remove the key)\n");
  for (const char* key : {"sasl.kerberos.kinit.cmd", "ssl.engine.location", "ssl.engine.id", "ssl.providers",
                          "test.mock.num.brokers", "auto.commit.interval.ms", "enable.auto.offset.store",
                          "enable.partition.eof", "queued.max.messages.kbytes", "fetch.message.max.bytes",
                          "fetch.max.bytes", "statistics.interval.ms", "rebalance_cb", "linger.ms"})
    CHECK(with_client_key(std::string(key) + ": 1").find("laneway does not accept this key") !=
          std::string::npos);
  CHECK(errors_of(base, {{"LANEWAY_KAFKA__ENABLE_AUTO_COMMIT", "false"}}) ==
        "LANEWAY_KAFKA__ENABLE_AUTO_COMMIT: laneway does not accept this key: laneway commits finished "
        "records itself (use commit.interval and commit.every instead)\n");
}

TEST_CASE("a missing required key is named") {
  CHECK(errors_of("consumers: 1\n") ==
        "f.yaml: kafka.bootstrap.servers: this key is missing (the brokers to connect to first, such as "
        "127.0.0.1:9092)\nf.yaml: kafka.group.id: this key is missing (the name of the consumer group, which "
        "all instances of a service share)\nf.yaml: topics: this key is missing (the topics to consume, such "
        "as [orders])\nf.yaml: handler: this key is missing (the work for each record: one of log, simulate, "
        "http, exec, plugin, produce, fan_out)\n");
}

TEST_CASE("a text that is not a map of keys is refused") {
  const std::string empty =
      "f.yaml: the file is empty (write at least kafka, topics and handler; laneway help keys prints all "
      "keys)\n";
  CHECK(errors_of("") == empty);
  CHECK(errors_of("# nothing\n---\n") == empty);
  CHECK(errors_of("[a]\n") ==
        "f.yaml:1:1: found a list (expected keys with values, such as topics: [orders])\n");
  CHECK(errors_of("hello\n") ==
        "f.yaml:1:1: found \"hello\" (expected keys with values, such as topics: [orders])\n");
}

TEST_CASE("YAML that cannot be read is reported with its place") {
  CHECK(errors_of("topics: [a\nb: 2\n") == "f.yaml:1:9: this [ is not closed (add the ] that is missing)\n");
  CHECK(errors_of("a: b: c\n").starts_with("f.yaml:1:5: a second colon with a space"));
  CHECK(
      errors_of("a: 1\n---\nb: 2\n") ==
      "f.yaml:2:1: a second YAML document begins here (a configuration is one document: remove this ---)\n");
  CHECK(errors_of("a: \xff\n") ==
        "f.yaml:1:4: found bytes that are not UTF-8 text (save the file as UTF-8)\n");
  CHECK(errors_of(base + "\x04 rest\n") == "f.yaml:7:1: found the control character \"\\x04\" (remove it)\n");
  CHECK(errors_of("[a]: b\n").starts_with("f.yaml:1:1: this key is a list or a map"));
  CHECK(errors_of(": b\n").find("the key before the colon is missing") != std::string::npos);
  CHECK(errors_of("a: !!int 5\n").find("found the tag") != std::string::npos);
}

TEST_CASE("a small file cannot expand into a large one") {
  CHECK(errors_of("a: &x [1]\nb: *x\n") ==
        "f.yaml:1:4: found an anchor (&name) (remove the anchor: anchors are not supported)\n");
  CHECK(errors_of("a: " + std::string(20, '[') + std::string(20, ']')).find("nested deeper than 16") !=
        std::string::npos);
  CHECK(errors_of(std::string(100000, '{')) ==
        "f.yaml:1:100000: this { is not closed (add the } that is missing)\n");
  std::string deep;
  for (int i = 0; i < 20; ++i) deep.append(i, ' ').append("topics:\n");
  CHECK(errors_of(deep).find("nested deeper than 16") != std::string::npos);
  std::string many = "topics:\n";
  for (int i = 0; i < 10001; ++i) many += "- a\n";
  CHECK(errors_of(many).find("the file has more than 10000 values") != std::string::npos);
  CHECK(errors_of(std::string((1 << 20) + 1, '#')) ==
        "f.yaml: the file is larger than 1MiB (check that this is the right file)\n");
}

TEST_CASE("all errors are reported at once, in the order of their places") {
  CHECK(errors_of(base + "retry: { max_backoff: 1ms }\nlanes: { workers: 0,\n  queue: x }\nfoo: 1\n",
                  {{"LANEWAY_LOG__LEVEL", "loud"}, {"LANEWAY_CONSUMERS", "0"}},
                  {"topics=a b", "commit.every=0"}) ==
        "f.yaml:7:23: retry.max_backoff: retry.backoff is 500ms, more than retry.max_backoff, 1ms (lower "
        "retry.backoff, or raise retry.max_backoff)\nf.yaml:8:19: lanes.workers: found \"0\", which is out "
        "of range (expected a whole number from 1 to 4096, or { min, max, algorithm })\nf.yaml:9:10: "
        "lanes.queue: found \"x\" (expected "
        "a whole number from 0 to 1000000)\nf.yaml:10:1: foo: this key does not exist (laneway help keys "
        "prints all keys)\nLANEWAY_CONSUMERS: "
        "consumers: found \"0\", which is out of range (expected a whole number from 1 to "
        "256)\nLANEWAY_LOG__LEVEL: log.level: found \"loud\" (expected one of trace, debug, info, warn, "
        "error)\n--set topics: found \"a b\", which contains a character other than letters, digits, dot, "
        "underscore and hyphen (expected a list of topic names, or one pattern that starts with ^; write "
        "--set topics='[a, b]')\n--set commit.every: found \"0\", which is out of range (expected a whole "
        "number from 1 to 1000000000)\n");
}

TEST_CASE("a message is safe to print, whatever the file contains") {
  const auto shown =
      errors_of(base + "\"\\x1b[2J\": 1\nlanes: { order: \"\\x1b[2J\\n" + std::string(1000, 'a') + "\" }\n",
                {{"LANEWAY_\x1b", "1"}}, {"\x1b=1"});
  CHECK(shown.find('\x1b') == shown.npos);
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 4);
  CHECK(shown.find(std::string(100, 'a')) == shown.npos);
}

TEST_CASE("no value of a file controls the terminal or turns the direction of a message") {
  for (const auto& [written, shown] :
       std::vector<std::pair<std::string, std::string>>{{"\xe2\x80\xae"
                                                         "cba",
                                                         "\\u202ecba"},
                                                        {"\xc2\x9b"
                                                         "2J",
                                                         "\\x9b2J"},
                                                        {"\xd8\x9c", "\\u061c"}})
    CHECK_THAT(with_handler("{ simulate: { sleep: \"" + written + "\" } }"),
               Catch::Contains("found \"" + shown + "\"") && !Catch::Contains(written));
}
