#include "telemetry/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "telemetry/line_writer.h"

using namespace laneway;
using namespace laneway::telemetry;

namespace {

/// A pipe that the log writes into; what came through is read after the writing end was closed.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;

  int writing() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  std::string read_some(std::size_t most) {
    std::string text(most, '\0');
    const auto count = ::read(ends_[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }
  std::string read_all() {
    close_end(1);
    std::string all;
    for (auto part = read_some(65536); !part.empty(); part = read_some(65536)) all += part;
    return all;
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) ::close(std::exchange(ends_[end], -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

/// The log goes to a pipe for the life of this, then back to standard error.
struct CapturedLog {
  explicit CapturedLog(Format format, Level level = Level::info) {
    set_up_log(level, format, pipe.writing());
  }
  ~CapturedLog() { set_up_log(Level::info, Format::text, 2); }
  /// Without the time stamps.
  std::string text() {
    std::string all = pipe.read_all();
    std::string out;
    for (std::size_t at = 0; at < all.size();) {
      const auto end = all.find('\n', at);
      const auto line = all.substr(at, end - at);
      out += line.substr(line.find(' ') + 1) + "\n";
      at = end + 1;
    }
    return out;
  }
  Pipe pipe;
};

}  // namespace

TEST_CASE("a text line starts with the time in UTC, the level and the message") {
  CapturedLog captured(Format::text);
  info("lane held", {{"topic", "orders"}, {"partition", 3}});
  const auto line = captured.pipe.read_all();
  CHECK_THAT(
      line,
      Catch::Matchers::Matches(
          R"(ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=info msg="lane held" topic=orders partition=3
)"));
}

TEST_CASE("a message of one word is not quoted") {
  CapturedLog captured(Format::text);
  warn("abandoned", {{"topic", "orders"}, {"partition", 0}, {"offset", std::int64_t{42}}});
  CHECK(captured.text() == "level=warn msg=abandoned topic=orders partition=0 offset=42\n");
}

TEST_CASE("fields without a value are omitted") {
  CapturedLog captured(Format::text);
  info("lane draining", {{"topic", "orders"}, {"offset", -1}, {"", "x"}, {"why", ""}, {"left", 0}});
  CHECK(captured.text() == "level=info msg=\"lane draining\" topic=orders left=0\n");
}

TEST_CASE("common fields come in the documented order, and others before the outcome") {
  CapturedLog captured(Format::text);
  info("x", {{"error", "late"},
             {"brokers", 3U},
             {"outcome", "retry"},
             {"duration_ms", Duration(microseconds(1500))},
             {"attempt", 2},
             {"epoch", 7},
             {"offset", 1},
             {"partition", 0},
             {"topic", "t"}});
  CHECK(captured.text() ==
        "level=info msg=x topic=t partition=0 offset=1 epoch=7 attempt=2 duration_ms=1.5 brokers=3 "
        "outcome=retry "
        "error=late\n");
}

TEST_CASE("numbers have no exponent") {
  for (const auto format : {Format::text, Format::json}) {
    CapturedLog captured(format);
    info("x", {{"age_ms", Duration(seconds(600))},
               {"wait_ms", Duration(microseconds(1))},
               {"rate", -1234567.25},
               {"none", 0.0},
               {"tiny", -std::numeric_limits<double>::denorm_min()},
               {"huge", std::numeric_limits<double>::max()}});
    const auto line = captured.pipe.read_all();
    INFO(line);
    const bool json = format == Format::json;
    CHECK(line.find(json ? R"("age_ms":600000,"wait_ms":0.001,"rate":-1234567.25,"none":0,"tiny":-0.000)"
                         : "age_ms=600000 wait_ms=0.001 rate=-1234567.25 none=0 tiny=-0.000") != line.npos);
    CHECK(line.find(json ? R"(0005,"huge":17976931)" : "0005 huge=17976931") != line.npos);
    CHECK(line.find(json ? "124858368}" : "124858368\n") != line.npos);
  }
}

TEST_CASE("no value can fake a line, a field or a terminal command") {
  CapturedLog captured(Format::text);
  error("refused\nts=2026 level=info msg=fine",
        {{"error", "a\r\n\x1b[2J\x7f\xc2\x9b \"b\" c\\d"}, {"topic", "a=b"}});
  CHECK(captured.text() ==
        "level=error msg=\"refused\\nts=2026 level=info msg=fine\" topic=\"a=b\" "
        "error=\"a\\r\\n\\x1b[2J\\x7f\\xc2\\x9b \\\"b\\\" c\\\\d\"\n");
}

TEST_CASE("no value can turn the direction in which a line is read") {
  for (const auto& [mark, escaped] :
       std::vector<std::pair<std::string, std::string>>{{"\xe2\x80\xae", "\\xe2\\x80\\xae"},
                                                        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},
                                                        {"\xd8\x9c", "\\xd8\\x9c"},
                                                        {"\xe2\x80\x8f", "\\xe2\\x80\\x8f"}}) {
    CapturedLog text(Format::text);
    error("a" + mark, {{"topic", "b" + mark}, {"error", "c" + mark}});
    CHECK(text.text() ==
          "level=error msg=\"a" + escaped + "\" topic=\"b" + escaped + "\" error=\"c" + escaped + "\"\n");
    CapturedLog json(Format::json);
    error("a" + mark, {{"topic", "b" + mark}, {"error", "c" + mark}});
    const auto line = json.pipe.read_all();
    CHECK(line.find(mark) == line.npos);
    CHECK(nlohmann::json::parse(line)["error"] == "c" + escaped);
  }
}

TEST_CASE("UTF-8 stays readable and other bytes are escaped") {
  CapturedLog captured(Format::text);
  info("\xc3\xa9t\xc3\xa9 \xf0\x9f\x98\x80", {{"error", "\xff\xc0\xaf \xed\xa0\x80 \xe2\x82"}});
  CHECK(captured.text() ==
        "level=info msg=\"\xc3\xa9t\xc3\xa9 \xf0\x9f\x98\x80\" "
        "error=\"\\xff\\xc0\\xaf \\xed\\xa0\\x80 \\xe2\\x82\"\n");
}

TEST_CASE("a JSON line is one valid object with typed values") {
  CapturedLog captured(Format::json);
  warn("commit failed", {{"topic", "orders"},
                         {"left", std::int64_t{-1}},
                         {"bytes", ~std::uint64_t{0}},
                         {"ratio", 0.25},
                         {"nothing", std::numeric_limits<double>::quiet_NaN()},
                         {"assigned", true},
                         {"error", std::string("a\"\\\n\x01\xff\0z", 8)}});
  const auto line = captured.pipe.read_all();
  REQUIRE(line.find('\n') == line.size() - 1);
  const auto event = nlohmann::json::parse(line);
  CHECK(event["level"] == "warn");
  CHECK(event["msg"] == "commit failed");
  CHECK(event["left"] == -1);
  CHECK(event["bytes"] == ~std::uint64_t{0});
  CHECK(event["ratio"] == 0.25);
  CHECK(event["nothing"].is_null());
  CHECK(event["assigned"] == true);
  CHECK(event["error"] == "a\"\\\n\\x01\\xff\\x00z");
  CHECK(event["ts"].get<std::string>().size() == 24);
}

TEST_CASE("a long value is cut, and its full length is printed") {
  CapturedLog captured(Format::text);
  info("x", {{"error", std::string(5000, 'a')}});
  CHECK(captured.text() == "level=info msg=x error=\"" + std::string(2048, 'a') + "... (5000 bytes)\"\n");
}

TEST_CASE("lines below the level are not written") {
  CapturedLog captured(Format::text, Level::warn);
  info("no");
  CHECK_FALSE(log_enabled(Level::info));
  set_log_level(Level::debug);
  debug("yes");
  CHECK(captured.text() == "level=debug msg=yes\n");
}

TEST_CASE("lines of several threads are not mixed") {
  CapturedLog captured(Format::text);
  // All of it fits: lines are lost when a reader is too slow, which is not what this is about.
  REQUIRE(::fcntl(captured.pipe.writing(), F_SETPIPE_SZ, 1 << 20) >= 0);
  std::string all;
  std::thread reader([&] {
    // The captured end closes below, when the writers are done.
    for (auto part = captured.pipe.read_some(65536); !part.empty(); part = captured.pipe.read_some(65536)) {
      all += part;
      if (all.find("msg=last") != std::string::npos) return;
    }
  });
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([] {
      for (int j = 0; j < 200; ++j) info("x", {{"error", std::string(500, 'a')}});
    });
  for (auto& writer : writers) writer.join();
  info("last");
  reader.join();
  std::size_t whole = 0;
  const std::string expected = " level=info msg=x error=" + std::string(500, 'a') + "\n";
  for (auto at = all.find(expected); at != std::string::npos; at = all.find(expected, at + 1)) ++whole;
  CHECK(whole == 800);
}

TEST_CASE("a reader that stopped costs lines, not the service, and the loss is reported") {
  CapturedLog captured(Format::text);
  for (int i = 0; i < 400; ++i) info("x", {{"error", std::string(1000, 'a')}});  // a pipe holds 64 KiB
  std::string all = captured.pipe.read_some(1 << 20);
  info("after");
  all += captured.pipe.read_all();
  CHECK(all.find("msg=after") != std::string::npos);
  const auto lost = all.find("msg=\"log lines lost\" lines=");
  REQUIRE(lost != std::string::npos);
  std::size_t written = 0;
  for (auto at = all.find("msg=x"); at != std::string::npos; at = all.find("msg=x", at + 1)) ++written;
  const auto count = std::stoul(all.substr(lost + std::string("msg=\"log lines lost\" lines=").size()));
  CHECK(count > 0);
  // The line that was being written when the pipe filled may be there in part.
  CHECK((written + count == 400 || written + count == 401));
}

TEST_CASE("a line after a cut line starts on a line of its own") {
  Pipe pipe;
  LineWriter writer(pipe.writing(), milliseconds(0));
  const std::string large(100000, 'a');
  CHECK_FALSE(writer.write(large + "\n"));
  std::string all = pipe.read_some(1 << 20);
  CHECK(writer.write("next\n"));
  all += pipe.read_all();
  CHECK(all.substr(all.size() - 7) == "a\nnext\n");
  CHECK(writer.take_lost() == 1);
}

TEST_CASE("a log without a reader does not end the process") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_reader();
  LineWriter writer(pipe.writing());
  CHECK_FALSE(writer.write("line\n"));
  LineWriter closed(-1);
  CHECK_FALSE(closed.write("line\n"));
}

TEST_CASE("a message that repeats endlessly is printed a few times and then counted") {
  CapturedLog captured(Format::text);
  for (int i = 0; i < 100; ++i)
    log_repeating(Level::warn, "broker " + std::to_string(i), "client", {{"n", i}});
  flush_log();
  const auto text = captured.text();
  CHECK(text.find("msg=client n=4\n") != std::string::npos);
  CHECK(text.find("msg=client n=5\n") == std::string::npos);
  CHECK(text.find("msg=repeated times=95 of=\"broker #\"\n") != std::string::npos);
}
