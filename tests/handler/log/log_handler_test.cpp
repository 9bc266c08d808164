#include "handler/log/log_handler.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>

#include "catch.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::string described(kafka::RecordData data) { return describe_record(kafka::Record(data)); }

struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  void close_end(int end) { ::close(std::exchange(ends[end], -1)); }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> part;
    for (auto n = ::read(ends[0], part.data(), part.size()); n > 0;
         n = ::read(ends[0], part.data(), part.size()))
      all.append(part.data(), static_cast<std::size_t>(n));
    return all;
  }
  std::array<int, 2> ends{-1, -1};
};

}  // namespace

TEST_CASE("a record is one line with its place, time, key and value") {
  CHECK(described(record_data(42, R"({"id":1})", "c17")) ==
        R"(orders:3:42 2026-01-02T03:04:05.678Z key=c17 value={"id":1})");
}

TEST_CASE("null and empty keys and values are printed differently") {
  CHECK(described(record_data(1, {})) == "orders:3:1 2026-01-02T03:04:05.678Z tombstone");
  CHECK(described(record_data(1, "", "")) == "orders:3:1 2026-01-02T03:04:05.678Z key=\"\" value=");
}

TEST_CASE("a record without a timestamp shows no time") {
  auto data = record_data(1, "v");
  data.timestamp = -1;
  CHECK(described(std::move(data)) == "orders:3:1 - value=v");
}

TEST_CASE("keys and values cannot add lines or control the terminal") {
  CHECK(described(record_data(1, "a\nb\x1b[2J\xff\\", "k value=x")) ==
        "orders:3:1 2026-01-02T03:04:05.678Z key=\"k value=x\" value=a\\nb\\x1b[2J\\xff\\\\");
}

TEST_CASE("large lines of several threads are written whole") {
  Pipe pipe;
  LogHandler handler(pipe.ends[1]);
  const std::string large(20000, 'x');  // several pieces of PIPE_BUF
  std::string all;
  std::thread reader([&] { all = pipe.read_all(); });
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&] {
      for (int j = 0; j < 20; ++j) outcome_of(handler, record_data(7, large));
    });
  for (auto& writer : writers) writer.join();
  pipe.close_end(1);
  reader.join();
  std::istringstream lines(all);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    REQUIRE(line == "orders:3:7 2026-01-02T03:04:05.678Z value=" + large);
  CHECK(count == 80);
}

TEST_CASE("without a reader the answer is unavailable, so the record is kept") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_end(0);
  LogHandler handler(pipe.ends[1]);
  const auto outcome = outcome_of(handler, record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::unavailable);
  CHECK(outcome.reason == "cannot write to standard output: Broken pipe");
}

TEST_CASE("a full disk makes the answer unavailable") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  LogHandler handler(full);
  const auto outcome = outcome_of(handler, record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::unavailable);
  CHECK(outcome.reason == "cannot write to standard output: No space left on device");
  ::close(full);
}

TEST_CASE("a stop ends the wait for a reader that has stopped, also for the writers behind it") {
  Pipe pipe;
  LogHandler handler(pipe.ends[1]);
  std::vector<kafka::RecordData> first, second;
  first.push_back(record_data(1, std::string(1 << 20, 'x')));  // more than the pipe holds
  second.push_back(record_data(2, "v"));
  Run writing(std::move(first));
  Run waiting(std::move(second));
  std::thread writer([&] { handler.handle(writing.task()); });
  std::array<char, 1> one;
  REQUIRE(::read(pipe.ends[0], one.data(), 1) == 1);  // the writer has begun
  std::thread waiter([&] { handler.handle(waiting.task()); });
  waiting.stop();
  waiter.join();
  writing.stop();
  writer.join();
  for (const Run* run : {&writing, &waiting}) {
    REQUIRE(run->result().failures.size() == 1);
    CHECK(run->result().failures[0].outcome.verdict == Verdict::retry);
    CHECK(run->result().failures[0].outcome.cause == Cause::timeout);
  }
}

TEST_CASE("a line after a cut line starts on a line of its own") {
  Pipe pipe;
  LogHandler handler(pipe.ends[1]);
  std::vector<kafka::RecordData> large;
  large.push_back(record_data(1, std::string(1 << 20, 'x')));
  Run run(std::move(large));
  std::thread writer([&] { handler.handle(run.task()); });
  std::array<char, 1> one;
  REQUIRE(::read(pipe.ends[0], one.data(), 1) == 1);
  run.stop();
  writer.join();
  std::string all;
  std::thread reader([&] { all = pipe.read_all(); });
  CHECK(outcome_of(handler, record_data(2, "v")).verdict == Verdict::done);
  pipe.close_end(1);
  reader.join();
  const std::string last = "x\norders:3:2 2026-01-02T03:04:05.678Z value=v\n";
  CHECK(all.substr(all.size() - last.size()) == last);
}
