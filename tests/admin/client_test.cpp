#include "admin/client.h"

#include <httplib.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "admin/identity/proof.h"
#include "admin/server/server.h"
#include "admin/server/server_support.h"
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

/// A program that passes itself off as laneway, and keeps all headers that it gets.
class Impostor {
 public:
  using Answering = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit Impostor(Answering answering) {
    server_.set_default_headers({{"X-Laneway", "1"}});
    const auto keep = [this, answering](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      for (const auto& [name, value] : request.headers) headers_ += name + ": " + value + '\n';
      if (request.method == "POST") ++posts_;
      answering(request, response);
    };
    server_.Get(".*", keep);
    server_.Post(".*", keep);
    const int port = server_.bind_to_any_port("127.0.0.1");
    address = "127.0.0.1:" + std::to_string(port);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Impostor() {
    server_.stop();
    thread_.join();
  }

  std::string headers() {
    std::lock_guard lock(mutex_);
    return headers_;
  }
  int posts() {
    std::lock_guard lock(mutex_);
    return posts_;
  }

  std::string address;

 private:
  httplib::Server server_;
  std::mutex mutex_;
  std::string headers_;
  int posts_ = 0;
  std::thread thread_;
};

/// A service of a group with a token, which counts the changes.
class Real {
 public:
  explicit Real(const std::string& token, const std::string& group = "shop") {
    auto from = sources();
    from.token = [token] { return token; };
    from.control = [this](const service::ControlRequest& request) {
      ++changes;
      last = request;
      return service::ControlAnswer{service::ControlAnswer::Kind::done, request.topic};
    };
    from.identity = {group, "/etc/laneway/" + group + ".yaml"};
    server_ = started(std::move(from));
    address = "127.0.0.1:" + std::to_string(server_->port());
  }

  std::string address;
  std::atomic<int> changes{0};
  service::ControlRequest last;

 private:
  std::unique_ptr<Server> server_;
};

/// What a person gets who wants to suspend a lane.
Result<Answer> suspend(const Endpoint& endpoint) {
  const auto peer = meet(endpoint);
  if (!peer) return peer.error();
  return post(endpoint, *peer, {"/lanes/orders/3/suspend"});
}

constexpr auto token = "0123456789abcdef0123456789abcdef";

}  // namespace

TEST_CASE("client: a foreign program gets no change, and its answers do not count as laneway's") {
  Stranger stranger;
  const auto looked = get(stranger.endpoint.address, "/status");
  REQUIRE(looked.ok());
  CHECK_FALSE(looked->from_laneway);
  const auto changed = suspend(stranger.endpoint);
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().kind == ErrorKind::unavailable);
  CHECK(changed.error().message.starts_with(stranger.endpoint.address + " is not a laneway service"));
  CHECK(stranger.posts == 0);
}

TEST_CASE("client: a service identifies itself, and carries out a change that proves its token") {
  Real service(token);
  const Endpoint endpoint{service.address, token};
  const auto peer = meet(endpoint);
  REQUIRE(peer.ok());
  CHECK(peer->identity.group == "shop");
  CHECK(peer->identity.file == "/etc/laneway/shop.yaml");
  CHECK(peer->proven);
  const auto done =
      post(endpoint, *peer, {"/lanes/orders/3/skip", {{"offset", "4"}, {"reason", "bad \xc3\xa4&%+"}}});
  REQUIRE(done.ok());
  CHECK(done->status == 200);
  CHECK(service.last.offset == 4);
  CHECK(service.last.reason == "bad \xc3\xa4&%+");
}

TEST_CASE("client: the token is never sent, not even to the service that knows it") {
  Real service(token);
  Impostor between([&](const httplib::Request& request, httplib::Response& response) {
    httplib::Client real("127.0.0.1", std::stoi(service.address.substr(10)));
    httplib::Headers headers{{"X-Laneway", "1"}};
    if (request.has_header("Authorization"))
      headers.emplace("Authorization", request.get_header_value("Authorization"));
    const auto answer = request.method == "POST"
                            ? real.Post(request.path, headers, std::string(), "text/plain")
                            : real.Get(request.path, request.params, headers);
    response.status = answer->status;
    response.body = answer->body;
  });
  const auto done = suspend({between.address, token});
  REQUIRE(done.ok());
  CHECK(done->status == 200);
  CHECK(service.changes == 1);
  CHECK(between.headers().find("Laneway ") != std::string::npos);
  CHECK(between.headers().find(token) == std::string::npos);
}

TEST_CASE("client: a program that does not know the token gets no change") {
  const auto identity = [](const std::string& more) {
    return [more](const httplib::Request&, httplib::Response& response) {
      response.set_content(R"({"group":"shop","file":"")" + more + "}", "application/json");
    };
  };
  const auto older = [](const httplib::Request& request, httplib::Response& response) {
    response.status = request.path == "/status" ? 200 : 404;
    response.set_content(R"({"group":"shop"})", "application/json");
  };
  for (const auto& [answering, why] : std::vector<std::pair<Impostor::Answering, std::string>>{
           {identity(R"(,"challenge":"00","proof":"00")"), "did not show that it knows the token"},
           {identity(R"(,"challenge":"00")"), "did not show that it knows the token"},
           {identity(""), "did not show that it knows the token"},
           {older, "of an older version"}}) {
    Impostor impostor(answering);
    const auto refused = suspend({impostor.address, token});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::unavailable);
    CHECK_THAT(refused.error().message, Catch::Contains(why));
    CHECK(impostor.posts() == 0);
    CHECK(impostor.headers().find("Authorization") == std::string::npos);
  }
}

TEST_CASE("client: a proof is good for one change of one service, and for no other change") {
  Real service(token), other(token, "stock");
  const auto changed = [&](const Real& at, const std::string& path, const std::string& authorization,
                           const std::string& body = "") {
    httplib::Client client("127.0.0.1", std::stoi(at.address.substr(10)));
    return client
        .Post(path, httplib::Headers{{"X-Laneway", "1"}, {"Authorization", authorization}}, body,
              "application/json")
        ->status;
  };
  const std::string path = "/lanes/orders/3/suspend";
  const auto proof = [&](const std::string& for_path) {
    const auto peer = meet({service.address, token});
    REQUIRE(peer.ok());
    return "Laneway " + peer->challenge + ' ' +
           change_proof(token, peer->challenge, {for_path}, peer->identity);
  };
  const auto once = proof(path);
  CHECK(changed(service, path, once) == 200);
  CHECK(changed(service, path, once) == 401);
  CHECK(changed(service, "/lanes/orders/3/resume", proof(path)) == 401);
  CHECK(changed(service, path + "?a=1", proof(path)) == 401);
  CHECK(changed(service, path, proof(path), R"({"a":1})") == 400);
  CHECK(changed(service, path, "Laneway ") == 401);
  CHECK(changed(service, path, "Laneway x y") == 401);
  CHECK(service.changes == 1);
  const auto peer = meet({other.address, token});
  REQUIRE(peer.ok());
  const auto meant_for_service =
      change_proof(token, peer->challenge, {path}, {"shop", "/etc/laneway/shop.yaml"});
  CHECK(changed(other, path, "Laneway " + peer->challenge + ' ' + meant_for_service) == 401);
  CHECK(other.changes == 0);
}

TEST_CASE("client: foreign requests for challenges do not spoil a challenge of a client with the token") {
  Real service(token);
  const auto peer = meet({service.address, token});
  REQUIRE(peer.ok());
  httplib::Client client("127.0.0.1", std::stoi(service.address.substr(10)));
  client.set_keep_alive(true);
  for (int i = 0; i < 1500; ++i) REQUIRE(client.Get("/identity?nonce=1")->status == 200);
  const std::string path = "/lanes/orders/3/suspend";
  const auto proof = change_proof(token, peer->challenge, {path}, peer->identity);
  const httplib::Headers headers{{"X-Laneway", "1"},
                                 {"Authorization", "Laneway " + peer->challenge + ' ' + proof}};
  CHECK(client.Post(path, headers, "", "application/json")->status == 200);
}

TEST_CASE("client: an answer of laneway that refuses a change counts as laneway's answer") {
  AdminSources from = sources();
  from.live = [] { return service::Liveness{false, "the loop stands still"}; };
  from.token = [] { return std::string("secret"); };
  from.control = [](const service::ControlRequest&) {
    return service::ControlAnswer{service::ControlAnswer::Kind::not_found, "no such lane"};
  };
  const auto server = started(std::move(from));
  Endpoint endpoint{"127.0.0.1:" + std::to_string(server->port()), ""};
  const auto refused = suspend(endpoint);
  REQUIRE(refused.ok());
  CHECK(refused->status == 401);
  endpoint.token = "secret";
  const auto unknown = suspend(endpoint);
  REQUIRE(unknown.ok());
  CHECK(unknown->status == 404);
  CHECK(unknown->body == "no such lane\n");
}

TEST_CASE("client: a service without a token gets a change only from a command without a token") {
  Real service("");
  const auto refused = suspend({service.address, token});
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().text(), Catch::Contains("or it has none"));
  CHECK(service.changes == 0);
  const auto done = suspend({service.address, ""});
  REQUIRE(done.ok());
  CHECK(done->status == 200);
}

TEST_CASE("client: the error names a host name that has no address") {
  const auto answer = get("nosuch.invalid:9644", "/status");
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
