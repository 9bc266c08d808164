#include "lane/shared/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

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

/// A folder, removed by the destructor with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;

  std::string path = "/tmp/laneway-journal-XXXXXX";
};

struct Lines {
  int whole = 0;
  int others = 0;
};

Lines lines_of(const std::string& file) {
  std::ifstream written(file);
  Lines lines;
  for (std::string line; std::getline(written, line);)
    (line.starts_with("{\"topic\"") && line.ends_with("}") ? lines.whole : lines.others) += 1;
  return lines;
}

}  // namespace

TEST_CASE("a journal line has the record's id, the times of the attempt, and the outcome") {
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

TEST_CASE("a renamed journal continues in a new file after it is opened again") {
  const TemporaryFolder folder;
  const auto file = folder.path + "/journal";
  const auto journal = lane::Journal::open(file);
  REQUIRE(journal);
  write_attempt(**journal);
  REQUIRE(std::rename(file.c_str(), (file + ".1").c_str()) == 0);
  write_attempt(**journal);
  CHECK(lines_of(file + ".1").whole == 2);
  REQUIRE((*journal)->reopen());
  write_attempt(**journal);
  CHECK(lines_of(file + ".1").whole == 2);
  CHECK(lines_of(file).whole == 1);
  REQUIRE((*journal)->reopen());  // nothing was renamed
  write_attempt(**journal);
  CHECK(lines_of(file).whole == 2);
}

TEST_CASE("a journal that cannot be opened again keeps its file and reports why") {
  const TemporaryFolder folder;
  const auto before = folder.path + "/before", after = folder.path + "/after";
  REQUIRE(std::filesystem::create_directory(before));
  const auto journal = lane::Journal::open(before + "/journal");
  REQUIRE(journal);
  write_attempt(**journal);
  std::filesystem::rename(before, after);
  const auto reopened = (*journal)->reopen();
  REQUIRE_FALSE(reopened);
  CHECK(reopened.error().text().find("cannot write " + before + "/journal: No such file") !=
        std::string::npos);
  CHECK((*journal)->reopen_failed());
  write_attempt(**journal);
  CHECK(lines_of(after + "/journal").whole == 2);
  CHECK((*journal)->lost_lines() == 0);
  std::filesystem::rename(after, before);
  CHECK((*journal)->reopen());
  CHECK_FALSE((*journal)->reopen_failed());
}

TEST_CASE("a journal does not wait for a pipe without a reader") {
  const TemporaryFolder folder;
  const auto pipe = folder.path + "/journal";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto reader = std::make_unique<Descriptor>(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto journal = lane::Journal::open(pipe);
  REQUIRE(journal);
  write_attempt(**journal);
  CHECK((*journal)->reopen());
  reader.reset();
  const auto reopened = (*journal)->reopen();
  REQUIRE_FALSE(reopened);
  CHECK(reopened.error().text().find("cannot write " + pipe) != std::string::npos);
}

TEST_CASE("no line is lost or cut when a journal rotates while workers write") {
  constexpr int workers = 3, rotations = 50;
  const TemporaryFolder folder;
  const auto file = folder.path + "/journal";
  const auto journal = lane::Journal::open(file);
  REQUIRE(journal);
  std::atomic<int> written{0};
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      for (; !end; ++written) write_attempt(**journal);
    });
  for (int i = 0; i < rotations; ++i) {
    const int before = written;
    while (written < before + workers) std::this_thread::yield();
    CHECK(std::rename(file.c_str(), (file + '.' + std::to_string(i)).c_str()) == 0);
    CHECK((*journal)->reopen());
  }
  end = true;
  for (auto& thread : threads) thread.join();
  Lines all = lines_of(file);
  for (int i = 0; i < rotations; ++i) {
    const auto lines = lines_of(file + '.' + std::to_string(i));
    CHECK(lines.whole > 0);
    all.whole += lines.whole;
    all.others += lines.others;
  }
  CHECK(all.whole == written);
  CHECK(all.others == 0);
  CHECK((*journal)->lost_lines() == 0);
}

TEST_CASE("a full file system is logged a few times and then counted") {
  CapturedLog log;
  const auto journal = lane::Journal::open("/dev/full");
  REQUIRE(journal);
  for (int i = 0; i < 1000; ++i) write_attempt(**journal);
  const int lines = log.lines({"journal not written", "No space left on device", "/dev/full"});
  CHECK(lines > 0);
  CHECK(lines < 100);
  telemetry::flush_log();
  CHECK(log.lines({"msg=repeated", "journal not written"}) > 0);
  CHECK((*journal)->lost_lines() == 1000);
}

TEST_CASE("after a cut line the journal begins a new line") {
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
  CHECK((*journal)->lost_lines() == 2);
  write_attempt(**journal);
  write_attempt(**journal);
  const auto lines = lines_of(file.path);
  CHECK(lines.whole == 32);
  CHECK(lines.others == 1);
}
