#include "admin/http/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "admin/http/request_head.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

using State = Connection::State;

/// A connection and its client, which do what a test says at the time that it says.
struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    client = Descriptor(ends[0]);
    connection.emplace(Descriptor(ends[1]), limits, now);
  }
  void send(std::string_view bytes) {
    REQUIRE(::send(client.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
    connection->go_on(now);
  }
  std::string received() {
    std::string all;
    std::array<char, 4096> part{};
    for (auto n = ::recv(client.number(), part.data(), part.size(), 0); n > 0;
         n = ::recv(client.number(), part.data(), part.size(), 0))
      all.append(part.data(), static_cast<std::size_t>(n));
    return all;
  }
  void pass(Duration time) {
    now += time;
    connection->tick(now);
  }

  const ConnectionLimits limits;
  TimePoint now = SteadyClock::now();
  Descriptor client;
  std::optional<Connection> connection;
};

}  // namespace

TEST_CASE("a request is complete when its head and its announced body have arrived") {
  Pair pair;
  pair.send("POST /reload HTTP/1.1\r\nRange: bytes=1-1\r\nExpect: 100-continue\r\ncontent-LENGTH: 4 \r\n\r");
  CHECK(pair.connection->state() == State::receiving);
  pair.send("\n{\"a");
  CHECK(pair.connection->state() == State::receiving);
  CHECK(pair.connection->wanted() == POLLIN);
  pair.send("\"");
  CHECK(pair.connection->state() == State::at_work);
  CHECK(pair.connection->wanted() == 0);
  CHECK(pair.connection->take_request() == "POST /reload HTTP/1.1\r\ncontent-LENGTH: 4 \r\n\r\n{\"a\"");
  pair.pass(std::chrono::hours(1));
  CHECK(pair.connection->state() == State::at_work);
  pair.connection->answer("done", pair.now);
  CHECK(pair.received() == "done");
  CHECK(pair.connection->state() == State::closing);
  pair.client.close();
  pair.connection->go_on(pair.now);
  CHECK(pair.connection->state() == State::ended);
}

TEST_CASE("a request that is incomplete at its deadline is refused, however often parts arrive") {
  Pair pair;
  for (int i = 0; i < 5; ++i) {
    pair.send("GET");
    CHECK(pair.connection->state() == State::receiving);
    pair.pass(pair.limits.request_time / 5);
  }
  CHECK(pair.received().starts_with("HTTP/1.1 408 "));
}

TEST_CASE("an answer that is not read by its deadline is cut off, however often parts are read") {
  Pair pair;
  pair.send("GET /metrics HTTP/1.1\r\n\r\n");
  pair.connection->answer(std::string(32 << 20, 'x'), pair.now);
  for (int i = 0; i < 5; ++i) {
    CHECK(pair.connection->state() == State::answering);
    CHECK(pair.connection->wanted() == POLLOUT);
    CHECK_FALSE(pair.received().empty());
    pair.connection->go_on(pair.now);
    pair.pass(pair.limits.answer_time / 5);
  }
  CHECK(pair.connection->state() == State::ended);
}

TEST_CASE("a client that keeps sending after its answer is disconnected after a while") {
  Pair pair;
  pair.send("GET /metrics HTTP/1.1\r\n\r\n");
  pair.connection->answer("done", pair.now);
  pair.send("more");
  CHECK(pair.connection->state() == State::closing);
  pair.pass(seconds(1));
  CHECK(pair.connection->state() == State::ended);
}

TEST_CASE("a request whose body might be overlooked is refused") {
  for (const std::string field :
       {"Content-Length : 15", "Transfer-Encoding\t: chunked", "Content-Length: 1x"}) {
    INFO(field);
    Pair pair;
    pair.send("POST /reload HTTP/1.1\r\n" + field + "\r\n\r\n{\"dry_run\": \"1\"}");
    CHECK(pair.connection->state() == State::closing);
    CHECK(pair.received().starts_with("HTTP/1.1 400 "));
  }
}

TEST_CASE("a request whose body is too large is handled without waiting for the body") {
  Pair pair;
  pair.send("POST /reload HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n");
  CHECK(pair.connection->state() == State::at_work);
}

TEST_CASE("a probe is recognised by its first line") {
  for (const auto* line :
       {"GET /livez HTTP/1.1", "HEAD /readyz HTTP/1.0", "GET /readyz?format=json HTTP/1.1"})
    CHECK(is_probe(line));
  for (const auto* line : {"GET /livezx HTTP/1.1", "POST /livez HTTP/1.1", "GET /", "GET /livez", "",
                           "GET /metrics?/livez HTTP/1.1"})
    CHECK_FALSE(is_probe(line));
}
