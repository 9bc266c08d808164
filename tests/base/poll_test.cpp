#include "base/poll.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/wake_event.h"
#include "catch.h"
#include "eventually.h"

using namespace laneway;

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
  Descriptor reading, writing;
};

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a timeout for poll is rounded up, and never negative or too long") {
  CHECK(poll_time(Duration::zero()) == 0);
  CHECK(poll_time(-seconds(1)) == 0);
  CHECK(poll_time(nanoseconds(1)) == 1);
  CHECK(poll_time(milliseconds(20)) == 20);
  CHECK(poll_time(std::chrono::hours(24 * 365)) == std::numeric_limits<int>::max());
}

TEST_CASE("a wait for several descriptors ends when one is ready") {
  const Pipe quiet, busy;
  REQUIRE(::write(busy.writing.number(), "x", 1) == 1);
  std::array<pollfd, 2> wanted{{{quiet.reading.number(), POLLIN, 0}, {busy.reading.number(), POLLIN, 0}}};
  CHECK(poll_for(wanted, patience) == 1);
  CHECK(wanted[0].revents == 0);
  CHECK(wanted[1].revents == POLLIN);
}

TEST_CASE("a wait for one descriptor reports the event, or the timeout") {
  Pipe pipe;
  CHECK(poll_until(pipe.reading.number(), POLLIN, Deadline::in(milliseconds(1))) == 0);
  CHECK(poll_until(pipe.writing.number(), POLLOUT, Deadline::in(patience)) == POLLOUT);
  pipe.writing.close();
  CHECK(poll_until(pipe.reading.number(), POLLIN, Deadline::in(patience)) == POLLHUP);
}

TEST_CASE("a descriptor is closed by its last owner") {
  Pipe pipe;
  const int number = pipe.reading.number();
  {
    const Descriptor owner = std::move(pipe.reading);
    CHECK(owner.number() == number);
    CHECK(pipe.reading.number() == -1);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("any number of wakes ends the next wait, until the wakes are cleared") {
  const WakeEvent event;
  CHECK(poll_until(event.number(), POLLIN, Deadline::in(Duration::zero())) == 0);
  std::thread other([&] {
    event.wake();
    event.wake();
  });
  CHECK(poll_until(event.number(), POLLIN, Deadline::in(patience)) == POLLIN);
  other.join();
  event.clear();
  event.clear();
  CHECK(poll_until(event.number(), POLLIN, Deadline::in(Duration::zero())) == 0);
}
