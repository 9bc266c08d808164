#include "telemetry/journal_entry.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <rapidcheck.h>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "catch.h"
#include "telemetry/log.h"

using namespace laneway;
using namespace laneway::telemetry;

namespace {

/// Our own reading of the protocol, sharing nothing with what is tested.
std::map<std::string, std::string> read_entry(std::string_view entry) {
  std::map<std::string, std::string> fields;
  while (!entry.empty()) {
    const auto end = entry.find_first_of("=\n");
    REQUIRE(end != entry.npos);
    const std::string name(entry.substr(0, end));
    const bool sized = entry[end] == '\n';
    entry.remove_prefix(end + 1);
    std::uint64_t size = entry.find('\n');
    if (sized) {
      size = 0;
      for (std::size_t i = 0; i < 8; ++i)
        size |= std::uint64_t{static_cast<unsigned char>(entry.at(i))} << (8 * i);
      entry.remove_prefix(8);
    }
    REQUIRE(size < entry.size());
    REQUIRE(entry[size] == '\n');
    REQUIRE(fields.emplace(name, std::string(entry.substr(0, size))).second);
    entry.remove_prefix(size + 1);
  }
  return fields;
}

/// A journal that takes entries when it is asked to.
class Journal {
 public:
  Journal() {
    char name[] = "/tmp/laneway-journal-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    folder_ = name;
    open();
  }
  ~Journal() { std::filesystem::remove_all(folder_); }
  Journal(const Journal&) = delete;

  std::string path() const { return folder_ + "/socket"; }
  void close() {
    socket_.close();
    std::filesystem::remove(path());
  }
  void open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }
  std::optional<std::string> take() {
    std::string bytes(1 << 17, '\0');
    const auto size = ::recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(size));
    return bytes;
  }

 private:
  std::string folder_;
  Descriptor socket_;
};

}  // namespace

TEST_CASE("only the stream that JOURNAL_STREAM names belongs to the journal") {
  CHECK(is_journal_stream("9:8766", 9, 8766));
  for (const char* other : {"", ":", "9:", "9:876", "9:87660", "8766:9", "09:8766", "9:8766 ", "x"})
    CHECK_FALSE(is_journal_stream(other, 9, 8766));
}

TEST_CASE("standard error is identified by its device and inode") {
  struct stat status {};
  REQUIRE(::fstat(2, &status) == 0);
  const auto own = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  REQUIRE(::setenv("JOURNAL_STREAM", own.c_str(), 1) == 0);
  CHECK(standard_error_is_journal());
  REQUIRE(::setenv("JOURNAL_STREAM", (own + "1").c_str(), 1) == 0);
  CHECK_FALSE(standard_error_is_journal());
  REQUIRE(::unsetenv("JOURNAL_STREAM") == 0);
  CHECK_FALSE(standard_error_is_journal());
}

TEST_CASE("an entry for the journal has the line as its message, and each field separately") {
  const auto entry = read_entry(journal_entry(Level::warn, "record failed",
                                              {{"topic", "orders"},
                                               {"partition", 3},
                                               {"offset", std::int64_t{42}},
                                               {"duration_ms", 1.5},
                                               {"", "none"},
                                               {"why", ""},
                                               {"trace_id", "4bf9"},
                                               {"odd-Näme", true},
                                               {"error", "a b\nLANEWAY_FAKE=1"}}));
  CHECK(entry == std::map<std::string, std::string>{
                     {"MESSAGE",
                      "record failed topic=orders partition=3 offset=42 duration_ms=1.5 "
                      "trace_id=4bf9 odd-Näme=true error=\"a b\\nLANEWAY_FAKE=1\""},
                     {"PRIORITY", "4"},
                     {"SYSLOG_IDENTIFIER", "laneway"},
                     {"LANEWAY_TOPIC", "orders"},
                     {"LANEWAY_PARTITION", "3"},
                     {"LANEWAY_OFFSET", "42"},
                     {"LANEWAY_DURATION_MS", "1.5"},
                     {"LANEWAY_TRACE_ID", "4bf9"},
                     {"LANEWAY_ODD_N__ME", "true"},
                     {"LANEWAY_ERROR", "a b\nLANEWAY_FAKE=1"}});
  CHECK(read_entry(journal_entry(Level::error, "x", {})).at("PRIORITY") == "3");
  CHECK(read_entry(journal_entry(Level::info, "x", {})).at("PRIORITY") == "6");
  CHECK(read_entry(journal_entry(Level::debug, "x", {})).at("PRIORITY") == "7");
}

TEST_CASE("the journal reads exactly the logged fields, whatever they contain") {
  REQUIRE(rc::check([](const std::string& message, const std::string& value) {
    const auto entry = read_entry(journal_entry(Level::info, message, {{"key", value}}));
    RC_ASSERT(entry.size() == (value.empty() ? 3U : 4U));  // a field without a value is left out
    RC_ASSERT((value.empty() || entry.at("LANEWAY_KEY") == value));
  }));
}

TEST_CASE("entries reach the journal, also after its restart") {
  Journal journal;
  JournalSocket socket(journal.path());
  CHECK(socket.send("MESSAGE=a\n"));
  CHECK(journal.take() == "MESSAGE=a\n");
  journal.close();
  CHECK_FALSE(socket.send("MESSAGE=b\n"));
  journal.open();
  CHECK(socket.send("MESSAGE=c\n"));
  CHECK(journal.take() == "MESSAGE=c\n");
  CHECK_FALSE(socket.send(std::string(1 << 20, 'x')));
  CHECK(socket.send("MESSAGE=d\n"));
}

TEST_CASE("the log does not wait for a journal that does not read") {
  Journal journal;
  JournalSocket socket(journal.path(), milliseconds(1));
  int sent = 0;
  while (sent < 100000 && socket.send("MESSAGE=a\n")) ++sent;
  CHECK(sent < 100000);
  while (journal.take()) --sent;
  CHECK(sent == 0);
  CHECK(socket.send("MESSAGE=b\n"));
}

TEST_CASE("the log goes to the journal, or to the stream without a journal") {
  Journal journal;
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  const Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  set_up_log(Level::info, Format::text, writing.number(), journal.path());
  info("lane held", {{"topic", "orders"}});
  debug("nothing");
  std::string line(200, '\0');
  CHECK(::read(reading.number(), line.data(), line.size()) == -1);
  const auto entry = read_entry(journal.take().value_or(""));
  CHECK(entry.at("MESSAGE") == "lane held topic=orders");
  CHECK_FALSE(journal.take());
  journal.close();
  warn("lane paused", {{"topic", "orders"}});
  const auto size = ::read(reading.number(), line.data(), line.size());
  set_up_log(Level::info, Format::text, 2);
  REQUIRE(size > 0);
  CHECK(line.find("level=warn msg=\"lane paused\" topic=orders\n") != line.npos);
}
