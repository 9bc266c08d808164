#include "app/watchdog.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "catch.h"

using namespace laneway;
using app::Watchdog;

namespace {

/// The exit code of a child process that does this and then exits with 1.
int exit_code_of_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // should nothing end it
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    body();
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void hang() {
  for (;;) std::this_thread::sleep_for(seconds(1));
}

}  // namespace

TEST_CASE("a process that hangs past its time ends with the exit code that was set") {
  CHECK(exit_code_of_child([] {
          Watchdog watchdog;
          watchdog.arm(SteadyClock::now() + milliseconds(20), 75);
          hang();
        }) == 75);
}

TEST_CASE("a later time does not put off the end, but a later exit code counts") {
  CHECK(exit_code_of_child([] {
          Watchdog watchdog;
          watchdog.arm(SteadyClock::now() + seconds(1), 75);
          watchdog.arm(SteadyClock::now() + std::chrono::hours(1), 69);
          hang();
        }) == 69);
}

TEST_CASE("an earlier time counts") {
  CHECK(exit_code_of_child([] {
          Watchdog watchdog;
          watchdog.arm(SteadyClock::now() + std::chrono::hours(1), 75);
          watchdog.arm(SteadyClock::now(), 75);
          hang();
        }) == 75);
}

TEST_CASE("a process that ends in time is left alone") {
  CHECK(exit_code_of_child([] {
          {
            Watchdog watchdog;
            watchdog.arm(SteadyClock::now() + seconds(1), 75);
          }
          std::this_thread::sleep_for(milliseconds(1500));
        }) == 1);
  CHECK(exit_code_of_child([] { Watchdog watchdog; }) == 1);
}
