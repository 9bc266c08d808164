#include "admin/client.h"

#include <httplib.h>

#include <atomic>
#include <thread>

#include "admin/server.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

/// A web server of another program, which answers everything with 200.
class Stranger {
 public:
  Stranger() {
    server_.Get(".*",
                [](const auto&, auto& response) { response.set_content("<html>ok</html>", "text/html"); });
    server_.Post(".*", [this](const auto&, auto&) { ++posts; });
    const int port = server_.bind_to_any_port("127.0.0.1");
    endpoint.address = "127.0.0.1:" + std::to_string(port);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Stranger() {
    server_.stop();
    thread_.join();
  }

  std::atomic<int> posts{0};
  Endpoint endpoint;

 private:
  httplib::Server server_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("client: another program gets no change, and its answers are known as not laneway's") {
  Stranger stranger;
  const auto looked = get(stranger.endpoint, "/status");
  REQUIRE(looked.ok());
  CHECK_FALSE(looked->from_laneway);
  const auto changed = post(stranger.endpoint, "/reload", "");
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().kind == ErrorKind::unavailable);
  CHECK(changed.error().message.starts_with(stranger.endpoint.address + " is not a laneway service"));
  CHECK(stranger.posts == 0);
}

TEST_CASE("client: laneway's refusals are laneway's answers") {
  AdminSources sources;
  sources.live = [] { return service::Liveness{false, "the loop stands still"}; };
  sources.token = [] { return std::string("secret"); };
  sources.control = [](const service::ControlRequest&) {
    return service::ControlAnswer{service::ControlAnswer::Kind::not_found, "no such lane"};
  };
  auto server = Server::start("127.0.0.1:0", std::move(sources));
  REQUIRE(server.ok());
  Endpoint endpoint{"127.0.0.1:" + std::to_string((*server)->port()), ""};
  const auto refused = post(endpoint, "/lanes/orders/3/suspend", "");
  REQUIRE(refused.ok());
  CHECK(refused->status == 401);
  endpoint.token = "secret";
  const auto unknown = post(endpoint, "/lanes/orders/3/suspend", "");
  REQUIRE(unknown.ok());
  CHECK(unknown->status == 404);
  CHECK(unknown->body == "no such lane\n");
}

TEST_CASE("client: a host name that has no address is named as the reason") {
  const auto answer = get({"nosuch.invalid:9644", ""}, "/status");
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind == ErrorKind::unavailable);
  CHECK(answer.error().message.starts_with(
      "no answer from nosuch.invalid:9644: the host name 'nosuch.invalid' cannot be resolved: "));
}

TEST_CASE("client: the address in a URL is its host and port") {
  for (const auto* url : {"127.0.0.1:9644", "http://127.0.0.1:9644", "http://127.0.0.1:9644/status"})
    CHECK(address_in(url) == "127.0.0.1:9644");
  CHECK(address_in("https://h:1") == "https://h:1");  // refused as no HOST:PORT, with the words given
}
