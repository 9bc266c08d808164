#include "lane/shared/journal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "captured_log.h"
#include "catch.h"

using namespace laneway;

namespace {

const kafka::TopicPartition partition{"orders", 3};

void write_attempt(lane::Journal& journal) {
  const auto now = SteadyClock::now();
  journal.write({.partition = partition,
                 .offset = 42,
                 .key = {},
                 .epoch = 7,
                 .attempt = 1,
                 .start = now,
                 .end = now,
                 .outcome = "success"});
}

/// While this object lives, no file of this process becomes larger than `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limited{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t before_handler_;
};

/// An empty file, removed by the destructor.
class TemporaryFile {
 public:
  TemporaryFile() { ::close(::mkstemp(path.data())); }
  ~TemporaryFile() { ::unlink(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;

  rlim_t size() const {
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return static_cast<rlim_t>(info.st_size);
  }

  std::string path = "/tmp/laneway-journal-XXXXXX";
};

}  // namespace

TEST_CASE("a line of the journal has the record's id, the times of the attempt, and the outcome") {
  const TemporaryFile file;
  const auto journal = lane::Journal::open(file.path);
  REQUIRE(journal);
  const auto now = SteadyClock::now();
  lane::Journal::Line line{.partition = partition,
                           .offset = 42,
                           .key = "customer-1",
                           .epoch = 7,
                           .attempt = 3,
                           .start = now,
                           .end = now + milliseconds(250),
                           .outcome = "retry"};
  (*journal)->write(line);
  line.key.reset();
  line.outcome = "success";
  line.pool = "resize";
  line.part = "a\"b";
  (*journal)->write(line);
  std::ifstream written(file.path);
  std::string first, second, none;
  REQUIRE(std::getline(written, first));
  REQUIRE(std::getline(written, second));
  CHECK_FALSE(std::getline(written, none));
  const auto record = nlohmann::json::parse(first);
  CHECK(record.size() == 9);
  CHECK(record["topic"] == "orders");
  CHECK(record["partition"] == 3);
  CHECK(record["offset"] == 42);
  CHECK(record["epoch"] == 7);
  CHECK(record["attempt"] == 3);
  CHECK(record["outcome"] == "retry");
  CHECK(record["key"] != nullptr);
  CHECK(first.find("customer-1") == std::string::npos);
  CHECK(record["end"].get<std::int64_t>() - record["start"].get<std::int64_t>() == 250'000'000);
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto age = since_1970 - nanoseconds(record["start"].get<std::int64_t>());
  CHECK((age > -seconds(60) && age < seconds(600)));
  const auto part = nlohmann::json::parse(second);
  CHECK(part["key"] == nullptr);
  CHECK(part["outcome"] == "success");
  CHECK(part["pool"] == "resize");
  CHECK(part["part"] == "a%22b");
}

TEST_CASE("a journal on a full file system is logged a few times and then counted") {
  CapturedLog log;
  const auto journal = lane::Journal::open("/dev/full");
  REQUIRE(journal);
  for (int i = 0; i < 1000; ++i) write_attempt(**journal);
  const int lines = log.lines({"journal not written", "No space left on device", "/dev/full"});
  CHECK(lines > 0);
  CHECK(lines < 100);
  telemetry::flush_log();
  CHECK(log.lines({"msg=repeated", "journal not written"}) > 0);
}

TEST_CASE("after a line that was cut the journal goes on with a line of its own") {
  CapturedLog log;
  const TemporaryFile file;
  const auto journal = lane::Journal::open(file.path);
  REQUIRE(journal);
  for (int i = 0; i < 30; ++i) write_attempt(**journal);
  {
    const FileSizeLimit limit(file.size() + 50);  // which the log's file stays below
    write_attempt(**journal);                     // its first bytes only
    write_attempt(**journal);                     // no byte of it
  }
  CHECK(log.lines({"journal not written"}) == 2);
  write_attempt(**journal);
  write_attempt(**journal);
  std::ifstream written(file.path);
  int whole = 0;
  int cut = 0;
  for (std::string line; std::getline(written, line);)
    (line.starts_with("{\"topic\"") && line.ends_with("}") ? whole : cut) += 1;
  CHECK(whole == 32);
  CHECK(cut == 1);
}
