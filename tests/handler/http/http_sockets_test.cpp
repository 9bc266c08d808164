#include "handler/http/http_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"
#include "eventually.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

/// Two ends; something can be read from the first.
struct Pair {
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    near = Descriptor(ends[0]);
    far = Descriptor(ends[1]);
  }
  void send() const { REQUIRE(::write(far.number(), "x", 1) == 1); }
  int number() const { return near.number(); }
  Descriptor near, far;
};

/// Takes the number of `gone`, which it closes.
void take_number(Pair& taker, Pair& gone) {
  REQUIRE(::dup2(taker.number(), gone.number()) >= 0);
  std::swap(taker.near, gone.near);
  gone.near.close();
}

/// Whether this thread of ours waits in the kernel.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_ends = stat.rfind(')');
  return name_ends != std::string::npos && stat.substr(name_ends + 2, 1) == "S";
}

bool quiet(HttpSockets& events) { return !events.next(Duration::zero()); }

}  // namespace

TEST_CASE("an event of a watched socket is reported with the socket's owner") {
  HttpSockets events;
  const Pair pair;
  const bool connection = GENERATE(true, false);
  if (connection) events.opened(pair.number());
  events.watch(pair.number(), 7, EPOLLIN);
  CHECK(quiet(events));
  pair.send();
  const auto event = events.next(patience);
  REQUIRE(event);
  CHECK(event->owner == 7);
  CHECK(event->socket == pair.number());
  CHECK(event->what == EPOLLIN);
  events.watch(pair.number(), 7, EPOLLIN | EPOLLOUT);
  const auto both = events.next(patience);
  REQUIRE(both);
  CHECK(both->what == (EPOLLIN | EPOLLOUT));
  events.watch(pair.number(), 7, 0);
  CHECK(quiet(events));
  events.watch(pair.number(), 7, EPOLLIN);
  CHECK(events.next(patience));
}

TEST_CASE("a connection can be watched again after a pause without events") {
  HttpSockets events;
  const Pair pair;
  events.opened(pair.number());
  for (int i = 0; i < 3; ++i) {
    events.watch(pair.number(), 1, EPOLLIN);
    CHECK(quiet(events));
    pair.send();
    CHECK(events.next(patience));
    char byte = 0;
    REQUIRE(::read(pair.number(), &byte, 1) == 1);
    events.watch(pair.number(), 1, 0);
  }
}

TEST_CASE("the number of a closed socket can be used by another socket") {
  HttpSockets events;
  Pair first, second;
  const bool was_connection = GENERATE(true, false);
  const bool is_connection = GENERATE(true, false);
  const int number = first.number();
  if (was_connection) events.opened(number);
  events.watch(number, 1, EPOLLIN);
  events.watch(number, 1, 0);
  if (was_connection) events.closed(number);
  take_number(second, first);
  REQUIRE(second.number() == number);
  if (is_connection) events.opened(number);
  events.watch(number, 1, EPOLLIN);
  second.send();
  CHECK(events.next(patience));
}

TEST_CASE("an event of an unwatched socket does not end waits again and again") {
  HttpSockets events;
  const Pair pair;
  events.opened(pair.number());
  events.watch(pair.number(), 1, EPOLLIN);
  events.watch(pair.number(), 1, 0);
  pair.send();
  CHECK(quiet(events));
  std::atomic<bool> slept{false}, woken{false};
  std::thread other([&, waiting = ::gettid()] {
    slept = eventually([&] { return sleeps(waiting); });
    woken = true;
    events.wake();
  });
  CHECK_FALSE(events.next(2 * patience));
  CHECK(woken);
  other.join();
  CHECK(slept);
}

TEST_CASE("an event of a closed socket is not reported for the new socket with its number") {
  HttpSockets events;
  Pair pairs[2], other;
  for (const Pair& pair : pairs) {
    events.opened(pair.number());
    events.watch(pair.number(), 1, EPOLLIN);
    pair.send();
  }
  const auto event = events.next(patience);
  REQUIRE(event);
  REQUIRE(events.has_more());
  Pair& unseen = pairs[event->socket == pairs[0].number() ? 1 : 0];
  const int number = unseen.number();
  events.closed(number);
  take_number(other, unseen);
  events.opened(number);
  events.watch(number, 2, EPOLLIN);
  CHECK(quiet(events));
  other.send();
  std::set<std::uint32_t> owners;
  for (int i = 0; i < 2; ++i)
    if (const auto next = events.next(patience)) owners.insert(next->owner);
  CHECK(owners.count(2) == 1);
}

TEST_CASE("another thread can end a wait, and no event is lost") {
  HttpSockets events;
  std::thread other([&] { events.wake(); });
  CHECK_FALSE(events.next(patience));
  other.join();
  const Pair pair;
  events.watch(pair.number(), 1, EPOLLIN);
  pair.send();
  events.wake();
  CHECK(events.next(patience));
  CHECK_FALSE(events.has_more());
}

TEST_CASE("every event is reported, also with more sockets than one look takes") {
  HttpSockets events;
  const std::vector<Pair> pairs(50);
  for (const Pair& pair : pairs) {
    events.watch(pair.number(), static_cast<std::uint32_t>(pair.number()), EPOLLIN);
    pair.send();
  }
  std::set<int> told;
  for (int i = 0; i < 200; ++i)
    if (const auto event = events.next(patience)) told.insert(event->socket);
  CHECK(told.size() == pairs.size());
}
