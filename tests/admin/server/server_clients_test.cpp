#include "admin/server/server.h"

#include <httplib.h>

#include <atomic>
#include <thread>
#include <vector>

#include "catch.h"
#include "descriptor_limit.h"
#include "eventually.h"
#include "server_support.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

Limits patient() {
  Limits limits;
  limits.workers = 1;
  limits.reception.each.request_time = limits.reception.each.answer_time = std::chrono::hours(1);
  return limits;
}

constexpr std::string_view get_metrics = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

}  // namespace

TEST_CASE("slow clients do not block others") {
  const auto server = started(sources(), patient());
  RawClient silent(*server), slow(*server);
  slow.send("GET /metrics HTT");
  for (int i = 0; i < 20; ++i) CHECK(serves(*server));
}

TEST_CASE("a client that sends slowly gets a 408 when its time is over") {
  auto limits = patient();
  limits.reception.each.request_time = milliseconds(100);
  const auto server = started(sources(), limits);
  RawClient slow(*server);
  std::thread dripping([&] {
    while (slow.send("a")) std::this_thread::sleep_for(milliseconds(10));
  });
  CHECK(status_of(slow.receive_all()) == 408);
  dripping.join();
}

TEST_CASE("any number of connections that send nothing keeps no client out") {
  const auto server = started();
  std::vector<std::unique_ptr<RawClient>> half_open;
  for (int i = 0; i < 600; ++i) {
    if (half_open.size() == 300) half_open.erase(half_open.begin());  // renewed
    half_open.push_back(std::make_unique<RawClient>(*server));
    if (i % 2 == 0) half_open.back()->send("GET /livez HTTP/1.1\r\nX-Slow: ");
    if (i % 50 == 49) CHECK(serves(*server));
  }
}

TEST_CASE("many requests at once are answered, each with 200 or 503") {
  const auto server = started();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(*server));
    clients.back()->send(get_metrics);
  }
  for (const auto& client : clients) {
    const int status = status_of(client->receive_all());
    CHECK((status == 200 || status == 503));
  }
}

TEST_CASE("while the workers are busy, requests beyond the bound are answered 503, and probes are answered") {
  auto limits = patient();
  limits.reception.waiting = 1;
  std::atomic<bool> go_on{false};
  std::atomic<int> at_work{0};
  auto from = sources();
  from.metrics = [&] {
    ++at_work;
    while (!go_on) std::this_thread::sleep_for(milliseconds(1));
    return std::string("x 1\n");
  };
  const auto server = started(from, limits);
  RawClient working(*server), waiting(*server);
  working.send(get_metrics);
  CHECK(eventually([&] { return at_work == 1; }));
  waiting.send(get_metrics);
  std::string refused;  // of the first that finds the place taken
  CHECK(eventually([&] {
    httplib::Client client("127.0.0.1", server->port());
    const auto answer = client.Get("/status");
    if (answer && answer->status == 503) refused = answer->body;
    return !refused.empty();
  }));
  CHECK(refused == "too many requests at once; try again\n");
  CHECK(serves(*server));
  CHECK(status_of(RawClient(*server).exchange("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200);
  go_on = true;
  CHECK(status_of(working.receive_all()) == 200);
  CHECK(status_of(waiting.receive_all()) == 200);
}

TEST_CASE("a client that does not read its answer occupies no worker") {
  auto from = sources();
  from.metrics = [] { return std::string(16 << 20, 'x'); };
  auto limits = patient();
  limits.reception.unread_bytes = 20 << 20;
  const auto server = started(from, limits);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 8; ++i) {
    deaf.push_back(std::make_unique<RawClient>(*server));
    deaf.back()->send(get_metrics);
    CHECK(status_of(RawClient(*server).exchange("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200);
  }
  // The bytes that nobody reads are bounded: the oldest answers were cut off, the latest was not.
  CHECK(deaf.front()->receive_all().size() < 16 << 20);
  CHECK(deaf.back()->receive_all().size() > 16 << 20);
}

TEST_CASE("clients that do not read make way for others when there are too many connections") {
  auto limits = patient();
  limits.reception.connections = 3;
  auto from = sources();
  std::atomic<int> asked{0};
  from.metrics = [&] {
    ++asked;
    return std::string(16 << 20, 'x');
  };
  const auto server = started(from, limits);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 12; ++i) {
    deaf.push_back(std::make_unique<RawClient>(*server));
    deaf.back()->send(get_metrics);
    CHECK(eventually([&] { return asked == i + 1; }));  // it waits for no worker, and may make way
    CHECK(serves(*server));
  }
}

TEST_CASE("a stop ends open connections and frees the port") {
  auto server = started();
  const auto port = server->port();
  RawClient open(*server);
  open.send("GET /met");
  server->stop();
  server->stop();
  CHECK(open.receive_all().find("200 OK") == std::string::npos);
  const auto again = Server::start("127.0.0.1:" + std::to_string(port), sources());
  CHECK(again.ok());
}

TEST_CASE("a port that is in use is unavailable, and the message has the address") {
  const auto first = started();
  const auto address = "127.0.0.1:" + std::to_string(first->port());
  const auto second = Server::start(address, sources());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().kind == ErrorKind::unavailable);
  CHECK(second.error().message == "cannot listen on " + address +
                                      ": Address already in use; give each service of a machine an "
                                      "admin.listen of its own");
  CHECK_FALSE(second.error().hint.empty());
}

TEST_CASE("the first free port of a range is used, and an error is reported if no port is free") {
  const auto first = started();
  const unsigned port = first->port();
  REQUIRE(port < 65535);
  const auto range = "127.0.0.1:" + std::to_string(port) + '-' + std::to_string(port + 1);
  const auto second = Server::start(range, sources());
  if (!second.ok()) return;  // another program has the next port
  CHECK(second.value()->port() == port + 1);
  CHECK(serves(*second.value()));
  const auto third = Server::start(range, sources());
  REQUIRE_FALSE(third.ok());
  CHECK(third.error().kind == ErrorKind::unavailable);
  CHECK_THAT(third.error().message,
             Catch::Contains(range) && Catch::Contains("name a free one in admin.listen"));
  CHECK(addresses_in(range) == std::vector<std::string>{"127.0.0.1:" + std::to_string(port),
                                                        "127.0.0.1:" + std::to_string(port + 1)});
}

TEST_CASE("an unknown address, and an address of another machine, are unavailable") {
  for (const auto* address : {"no-such-host.invalid:0", "192.0.2.1:0"}) {
    const auto server = Server::start(address, sources());
    REQUIRE_FALSE(server.ok());
    CHECK(server.error().kind == ErrorKind::unavailable);
    CHECK(server.error().message.starts_with(std::string("cannot listen on ") + address + ": "));
  }
}

TEST_CASE("an invalid address is a configuration error") {
  for (const auto* address :
       {"", "9644", "localhost", ":9644", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:2-1", "127.0.0.1:0-9", "127.0.0.1:1-", "127.0.0.1:80 ", "[::1]", "[::1", "::1"}) {
    INFO(address);
    const auto server = Server::start(address, sources());
    REQUIRE_FALSE(server.ok());
    CHECK(server.error().kind == ErrorKind::configuration);
  }
}

TEST_CASE("an IPv6 address is listened on, if this machine has one") {
  const auto server = Server::start("[::1]:0", sources());
  if (!server.ok()) {
    CHECK(server.error().kind == ErrorKind::unavailable);
    return;
  }
  httplib::Client client("::1", server.value()->port());
  const auto answer = client.Get("/livez");
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

TEST_CASE("a name is resolved to the address that is listened on") {
  const auto server = started(sources(), {}, "localhost:0");
  httplib::Client client("localhost", server->port());  // 127.0.0.1 or ::1, as this machine has it
  const auto answer = client.Get("/livez");
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

TEST_CASE("without a free descriptor in the process, the port answers one client after the other") {
  if (sanitizer_needs_descriptors) return;
  const auto server = started();
  std::vector<RawClient> clients(20);  // each has its socket already
  const AllDescriptors none_left;
  for (auto& client : clients) {
    client.connect(*server);
    CHECK(status_of(client.exchange("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200);
  }
}
