#include "app/process/watchdog.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include "catch.h"
#include "eventually.h"

using namespace laneway;
using app::Watchdog;

namespace {

/// The exit code of a child process that does this and then exits with 1.
int exit_code_of_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);  // should nothing end it
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    body();
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

void hang() {
  for (;;) std::this_thread::sleep_for(seconds(1));
}

}  // namespace

TEST_CASE("a process that hangs beyond its deadline ends with the exit code that was set") {
  CHECK(exit_code_of_child([] {
          Watchdog watchdog;
          watchdog.arm(SteadyClock::now() + milliseconds(20), 75);
          hang();
        }) == 75);
}

TEST_CASE("a later deadline does not put off the end, but a later exit code takes effect") {
  // On a busy machine the first time may have come before the second is said.
  int exit_code = 0;
  for (const auto soon : {milliseconds(200), milliseconds(2000), milliseconds(20000)}) {
    exit_code = exit_code_of_child([&] {
      Watchdog watchdog;
      watchdog.arm(SteadyClock::now() + soon, 75);
      watchdog.arm(SteadyClock::now() + std::chrono::hours(1), 69);
      hang();
    });
    if (exit_code == 69) break;
  }
  CHECK(exit_code == 69);
}

TEST_CASE("an earlier deadline takes effect") {
  CHECK(exit_code_of_child([] {
          Watchdog watchdog;
          watchdog.arm(SteadyClock::now() + std::chrono::hours(1), 75);
          watchdog.arm(SteadyClock::now(), 75);
          hang();
        }) == 75);
}

TEST_CASE("a process that ends before its deadline keeps its own exit code") {
  CHECK(exit_code_of_child([] {
          {
            Watchdog watchdog;
            watchdog.arm(SteadyClock::now() + std::chrono::hours(1), 75);
            if (threads() != 2) ::_exit(2);
          }
          // Nobody is left who could end it.
          if (!eventually([] { return threads() == 1; })) ::_exit(3);
        }) == 1);
  CHECK(exit_code_of_child([] { Watchdog watchdog; }) == 1);
}
