#include "admin/server.h"

#include <httplib.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.h"
#include "descriptor_limit.h"
#include "eventually.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

AdminSources sources() {
  return {[] { return std::string("# TYPE laneway_x gauge\nlaneway_x 1\n"); },
          [] { return service::Liveness{}; },
          [] { return service::Readiness{}; },
          [] { return std::string("{}\n"); },
          [](std::uint64_t after) { return "after " + std::to_string(after) + "\n"; },
          [](const service::ControlRequest& request) {
            return service::ControlAnswer{service::ControlAnswer::Kind::done, request.topic};
          },
          [](const ReloadRequest& request) {
            return service::ControlAnswer{service::ControlAnswer::Kind::done,
                                          request.dry_run ? "would change" : "changed"};
          },
          [] { return std::string(); }};
}

std::unique_ptr<Server> started(AdminSources from = sources(), Limits limits = {},
                                const std::string& listen = "127.0.0.1:0") {
  auto server = Server::start(listen, std::move(from), limits);
  REQUIRE(server.ok());
  return std::move(server).value();
}

/// A client that sends what a test says, byte for byte.
class RawClient {
 public:
  RawClient() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  explicit RawClient(const Server& server) : RawClient() { connect(server); }
  void connect(const Server& server) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Until the server ends the connection.
  std::string receive_all() {
    std::string all;
    char part[4096];
    for (auto n = ::recv(socket_, part, sizeof(part), 0); n > 0; n = ::recv(socket_, part, sizeof(part), 0))
      all.append(part, static_cast<std::size_t>(n));
    return all;
  }
  std::string exchange(std::string_view request) {
    send(request);
    return receive_all();
  }

 private:
  int socket_;
};

constexpr std::string_view svg_namespace = "http://www.w3.org/2000/svg";

int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

bool serves(const Server& server) {
  return status_of(RawClient(server).exchange("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200;
}

}  // namespace

TEST_CASE("metrics are answered in Prometheus' text format") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  const auto answer = client.Get("/metrics");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "# TYPE laneway_x gauge\nlaneway_x 1\n");
  CHECK(answer->get_header_value("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
}

TEST_CASE("liveness is 200, or 503 with the reason") {
  std::atomic<bool> live{true};
  auto from = sources();
  from.live = [&] {
    return live ? service::Liveness{} : service::Liveness{false, "the consumer loop has not ticked for 31 s"};
  };
  const auto server = started(from);
  httplib::Client client("127.0.0.1", server->port());
  CHECK(client.Get("/livez")->status == 200);
  CHECK(client.Get("/livez")->body == "ok\n");
  live = false;
  CHECK(client.Get("/livez")->status == 503);
  CHECK(client.Get("/livez")->body == "the consumer loop has not ticked for 31 s\n");
}

TEST_CASE("readiness is 200, or 503 with a line for each reason, or JSON for who asks for it") {
  std::atomic<bool> ready{true};
  auto from = sources();
  from.ready = [&] {
    service::Readiness readiness;
    if (!ready)
      readiness.reasons = {{"no_broker", "no broker", "", -1}, {"stalled", "orders:3: x", "orders", 3}};
    return readiness;
  };
  const auto server = started(from);
  httplib::Client client("127.0.0.1", server->port());
  CHECK(client.Get("/readyz")->status == 200);
  CHECK(client.Get("/readyz")->body == "ready\n");
  CHECK(client.Get("/readyz?format=json")->body == "{\"ready\":true,\"reasons\":[]}\n");
  ready = false;
  CHECK(client.Get("/readyz")->status == 503);
  CHECK(client.Get("/readyz")->body == "no broker\norders:3: x\n");
  const auto json = client.Get("/readyz", {{"Accept", "application/json"}});
  CHECK(json->status == 503);
  CHECK(json->get_header_value("Content-Type") == "application/json");
  CHECK(json->body ==
        "{\"ready\":false,\"reasons\":[{\"code\":\"no_broker\",\"text\":\"no broker\"},"
        "{\"code\":\"stalled\",\"topic\":\"orders\",\"partition\":3,\"text\":\"orders:3: x\"}]}\n");
}

namespace {

/// The status, and what the service was asked: "pause orders 3", "skip orders 3 17 why".
class Operator {
 public:
  explicit Operator(service::ControlAnswer answer = {}) : answer_(std::move(answer)) {
    from_.control = [this](const service::ControlRequest& request) {
      asked = std::to_string(static_cast<int>(request.action)) + ' ' + request.topic + ' ' +
              (request.partition ? std::to_string(*request.partition) : "all");
      if (request.offset >= 0) asked += ' ' + std::to_string(request.offset) + ' ' + request.reason;
      return answer_;
    };
  }
  int post(const std::string& target, const httplib::Headers& headers, const std::string& body = {},
           const std::string& type = "application/json") {
    asked.clear();
    httplib::Client client("127.0.0.1", server->port());
    const auto answer = client.Post(target, headers, body, type);
    REQUIRE(answer);
    text = answer->body;
    return answer->status;
  }
  void start(const std::string& token = {}, const std::string& listen = "127.0.0.1:0") {
    from_.token = [token] { return token; };
    auto made = Server::start(listen, from_);
    REQUIRE(made.ok());
    server = std::move(made).value();
  }

  std::string asked;
  std::string text;
  std::unique_ptr<Server> server;

 private:
  const service::ControlAnswer answer_;
  AdminSources from_ = sources();
};

}  // namespace

TEST_CASE("lanes are paused, resumed and told to skip by POST, with parameters or JSON") {
  Operator person({service::ControlAnswer::Kind::done, "orders:3 is suspended"});
  person.start();
  CHECK(person.post("/lanes/orders/3/pause", {}) == 200);
  CHECK(person.asked == "0 orders 3");
  CHECK(person.text == "orders:3 is suspended\n");
  CHECK(person.post("/lanes/orders/resume", {{"X-Laneway", "1"}}, "", "text/plain") == 200);
  CHECK(person.asked == "1 orders all");
  CHECK(person.post("/lanes/orders/3/skip?offset=17&reason=bad%20order", {{"X-Laneway", "1"}}) == 200);
  CHECK(person.asked == "2 orders 3 17 bad order");
  CHECK(person.post("/lanes/orders/3/skip", {}, "{\"offset\":17,\"reason\":\"bad order\"}") == 200);
  CHECK(person.asked == "2 orders 3 17 bad order");
}

TEST_CASE("a POST without any body is answered at once") {
  Operator person;
  person.start();
  const auto answer =
      RawClient(*person.server)
          .exchange("POST /lanes/orders/3/pause HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n\r\n");
  CHECK(status_of(answer) == 200);
  CHECK(person.asked == "0 orders 3");
}

TEST_CASE("the history is served from the number that the reader knows on") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  const auto all = client.Get("/history");
  REQUIRE(all);
  CHECK(all->body == "after 0\n");
  CHECK(all->get_header_value("Content-Type") == "application/json");
  CHECK(client.Get("/history?after=17")->body == "after 17\n");
  for (const auto* wrong :
       {"/history?after=", "/history?after=-1", "/history?after=1x", "/history?after=99999999999999999999"})
    CHECK(client.Get(wrong)->status == 400);
  CHECK(client.Post("/history", "x", "text/plain")->status == 405);
}

TEST_CASE("what became of a request is in the status") {
  using Kind = service::ControlAnswer::Kind;
  for (const auto& [kind, status] :
       {std::pair{Kind::accepted, 202}, std::pair{Kind::not_found, 404}, std::pair{Kind::refused, 409},
        std::pair{Kind::invalid, 422}, std::pair{Kind::no_answer, 504}}) {
    Operator person({kind, "why"});
    person.start();
    CHECK(person.post("/lanes/orders/3/pause", {}) == status);
    CHECK(person.text == "why\n");
  }
}

TEST_CASE("the configuration is read again by POST, or only looked at") {
  Operator person;
  person.start("secret-token");
  const httplib::Headers right{{"Authorization", "Bearer secret-token"}};
  CHECK(person.post("/reload", right) == 200);
  CHECK(person.text == "changed\n");
  CHECK(person.post("/reload?dry_run=1", right) == 200);
  CHECK(person.text == "would change\n");
  CHECK(person.post("/reload", right, "{\"dry_run\":1}") == 200);
  CHECK(person.text == "would change\n");
  CHECK(person.post("/reload?dry_run=0", right) == 200);
  CHECK(person.text == "changed\n");
  CHECK(person.post("/reload", {}) == 401);
  CHECK(person.post("/reload?dry_run=1", {}) == 401);
  for (const auto* query : {"?dry_run=yes", "?dry_run=", "?dry_run=1&dry_run=0", "?force=1"})
    CHECK(person.post(std::string("/reload") + query, right) == 400);
  CHECK(person.post("/reload/", right) == 404);
  const auto get = RawClient(*person.server).exchange("GET /reload HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(status_of(get) == 405);
}

TEST_CASE("a token that was changed counts from the next request on") {
  auto from = sources();
  std::atomic<bool> changed{false};
  from.token = [&] { return std::string(changed ? "new" : "old"); };
  const auto server = started(std::move(from));
  httplib::Client client("127.0.0.1", server->port());
  const auto post = [&](const char* token) {
    const auto answer = client.Post("/reload", {{"Authorization", std::string("Bearer ") + token}}, "", "");
    REQUIRE(answer);
    return answer->status;
  };
  CHECK(post("old") == 200);
  changed = true;
  CHECK(post("old") == 401);
  CHECK(post("new") == 200);
}

TEST_CASE("a request that may not or cannot be read changes nothing") {
  Operator person;
  person.start("secret-token");
  const httplib::Headers right{{"Authorization", "Bearer secret-token"}};
  const auto refused = [&](int status, const std::string& target, const httplib::Headers& headers,
                           const std::string& body = {}) {
    INFO(target << body.substr(0, 30));
    CHECK(person.post(target, headers, body) == status);
    CHECK(person.asked.empty());
    CHECK_FALSE(person.text.empty());
  };
  refused(401, "/lanes/orders/3/pause", {});
  refused(401, "/lanes/orders/3/pause", {{"Authorization", "Bearer wrong"}});
  refused(401, "/lanes/orders/3/skip", {}, std::string(100000, 'x'));  // and its body is not read
  refused(400, "/lanes/orders/x/pause", right);
  refused(404, "/lanes/orders/3/stop", right);
  refused(400, "/lanes/orders/3/skip", right, "{\"offset\":");
  refused(400, "/lanes/orders/3/skip", right, std::string(8000, '['));
  refused(400, "/lanes/orders/3/skip", right,
          "{\"offset\":" + std::string(4000, '[') + std::string(4000, ']') + "}");
  refused(413, "/lanes/orders/3/skip", right, std::string(9000, 'x'));
  CHECK(person.post("/lanes/orders/3/pause", right) == 200);
  httplib::Client client("127.0.0.1", person.server->port());
  const auto get = client.Get("/lanes/orders/3/pause", right);
  CHECK(get->status == 405);
  CHECK(get->get_header_value("Allow") == "POST");
  CHECK(client.Get("/status")->status == 200);  // looking needs no token
}

TEST_CASE("on an address that others reach nothing is changed without a token") {
  Operator person;
  person.start({}, "0.0.0.0:0");
  CHECK(person.post("/lanes/orders/3/pause", {{"X-Laneway", "1"}}) == 403);
  CHECK(person.asked.empty());
  person.start("secret-token", "0.0.0.0:0");
  CHECK(person.post("/lanes/orders/3/pause", {{"Authorization", "Bearer secret-token"}}) == 200);
}

TEST_CASE("a web page of another site cannot change anything") {
  Operator person;
  person.start();
  CHECK(person.post("/lanes/orders/3/pause", {{"Origin", "http://evil.example"}}, "a=b",
                    "application/x-www-form-urlencoded") == 403);
  CHECK(person.post("/lanes/orders/3/pause", {{"Host", "evil.example"}, {"X-Laneway", "1"}}) == 403);
  CHECK(person.asked.empty());
}

TEST_CASE("other paths are 404, other methods 405") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  for (const auto* path : {"/page", "/metrics/", "/metricsx", "/../metrics", "/livez/x", "//metrics"})
    CHECK(client.Get(path)->status == 404);
  CHECK(client.Post("/metrics", "body", "text/plain")->status == 405);
  CHECK(client.Delete("/livez")->status == 405);
  const auto answer = client.Put("/livez", "body", "text/plain");
  REQUIRE(answer);
  CHECK(answer->status == 405);
  CHECK(answer->get_header_value("Allow") == "GET, HEAD");
}

TEST_CASE("the page is one document that runs its own script alone, by a nonce of its own") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  const auto nonce_of = [&] {
    const auto answer = client.Get("/");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->get_header_value("Content-Type") == "text/html; charset=utf-8");
    CHECK(answer->get_header_value("Referrer-Policy") == "no-referrer");
    const auto policy = answer->get_header_value("Content-Security-Policy");
    const auto at = policy.find("script-src 'nonce-");
    REQUIRE(at != std::string::npos);
    const auto nonce = policy.substr(at + 18, 32);
    CHECK(policy == "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
                        "'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
    const auto& body = answer->body;
    CHECK(body.starts_with("<!DOCTYPE html>"));
    CHECK(body.ends_with("</html>\n"));
    for (const auto* part : {"<script type=\"module\" nonce=\"", "<style nonce=\""})
      CHECK(body.find(part + nonce + "\">") != std::string::npos);
    for (const auto* left_out : {"{{", "innerHTML", "http://", "https://", " style=\"", " onclick"}) {
      INFO(left_out);
      // The one address is the name of the SVG namespace, which nobody asks for.
      const bool namespace_only = std::string_view(left_out) == "http://";
      const auto found = body.find(left_out);
      CHECK(
          (found == std::string::npos || (namespace_only && body.substr(found).starts_with(svg_namespace))));
    }
    return nonce;
  };
  const auto first = nonce_of();
  CHECK(first.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(first != nonce_of());
  CHECK(client.Head("/")->body.empty());
  CHECK(client.Post("/", "x", "text/plain")->status == 405);
}

TEST_CASE("no answer is kept, taken for another type, or read by a page of another site") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  for (const auto* path :
       {"/", "/metrics", "/livez", "/readyz", "/status", "/history", "/nothing", "/lanes/orders/3/pause"}) {
    const auto answer = client.Get(path);
    REQUIRE(answer);
    INFO(path);
    CHECK(answer->get_header_value("Cache-Control") == "no-store");
    CHECK(answer->get_header_value("X-Content-Type-Options") == "nosniff");
    CHECK(answer->get_header_value("Cross-Origin-Resource-Policy") == "same-origin");
    CHECK(answer->get_header_value("X-Laneway") == "1");
    CHECK_FALSE(answer->has_header("Access-Control-Allow-Origin"));
  }
}

TEST_CASE("a query is passed over and HEAD answers without a body") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  CHECK(client.Get("/livez?verbose=1")->status == 200);
  const auto answer = client.Head("/metrics");
  CHECK(answer->status == 200);
  CHECK(answer->get_header_value("Content-Length") == "35");
  CHECK(answer->body.empty());
}

TEST_CASE("a source that throws is a 500 that tells nothing, and the server goes on") {
  auto from = sources();
  from.metrics = []() -> std::string { throw std::runtime_error("private detail"); };
  const auto server = started(from);
  const auto answer = RawClient(*server).exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(status_of(answer) == 500);
  CHECK(answer.find("private detail") == std::string::npos);
  CHECK(serves(*server));
}

TEST_CASE("a Host that is not ours is refused, so that a web page cannot read us through a browser") {
  const auto server = started();
  const auto status_for = [&](const std::string& headers) {
    return status_of(RawClient(*server).exchange("GET /metrics HTTP/1.1\r\n" + headers + "\r\n"));
  };
  CHECK(status_for("Host: evil.example\r\n") == 403);
  CHECK(status_for("Host: localhost\r\nHost: evil.example\r\n") == 403);
  CHECK(status_for("Host: localhost:9644\r\n") == 200);
  CHECK(status_for("Host: 127.0.0.1\r\n") == 200);
  CHECK(status_for("Host: [::1]:9644\r\n") == 200);
}

TEST_CASE("a script that speaks HTTP/1.0 without a Host is served") {
  const auto server = started();
  CHECK(status_of(RawClient(*server).exchange("GET /livez HTTP/1.0\r\n\r\n")) == 200);
}

TEST_CASE("ranges and compression are not served") {
  const auto server = started();
  const auto answer = RawClient(*server).exchange(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-,0-,0-\r\nAccept-Encoding: br, "
      "gzip\r\n\r\n");
  CHECK(status_of(answer) == 200);
  CHECK(answer.ends_with("\r\n\r\n# TYPE laneway_x gauge\nlaneway_x 1\n"));
}

TEST_CASE("requests that are too large or no requests are refused, and the server goes on") {
  Limits limits;
  limits.reception.each.request_time = milliseconds(500);  // of those that are not whole
  const auto server = started(sources(), limits);
  const std::string large(100000, 'a');
  std::string ranges;
  while (ranges.size() < 8000) ranges += "1-1,";
  const std::vector<std::string> requests = {
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Large: " + large + "\r\n\r\n",
      "GET /metrics?" + large + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
      large,
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "\x16\x03\x01\x02" + std::string(1, '\0') + "\x01\n\n",
      "GET /metrics HTTP/1.1\r\nno colon here\r\n" + large,
      "GET /nothing HTTP/1.1\r\nHost: localhost\r\nRange: bytes=" + ranges + "\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Length: "
      "99999999999999999999999\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Length: -1\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nTransfer-Encoding: chunked"
      "\r\n\r\nffffffffffffffffffff\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Type: "
      "multipart/form-data; boundary=" +
          std::string(4000, 'x') + "\r\nContent-Length: 9\r\n\r\n123456789",
      std::string(20, '\0') + "\r\n\r\n",
  };
  for (const auto& request : requests) {
    const auto answer = RawClient(*server).exchange(request);
    const auto status = status_of(answer);
    INFO(request.substr(0, 40));
    CHECK((status == 0 || (status >= 400 && status < 500)));
    if (status != 0) CHECK_THAT(answer, Catch::Contains("\r\nX-Laneway: 1\r\n"));
  }
  std::string many = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 5000; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  CHECK(status_of(RawClient(*server).exchange(many + "\r\n")) != 200);
  CHECK(eventually([&] { return serves(*server); }));
}

TEST_CASE("what is too large, late or of a kind that is not read is told why") {
  const auto told_within = [](Duration request_time, const std::string& request, int status,
                              const std::string& words) {
    Limits limits;
    limits.reception.each.request_time = request_time;
    const auto server = started(sources(), limits);
    const auto answer = RawClient(*server).exchange(request);
    CHECK(status_of(answer) == status);
    CHECK_THAT(answer, Catch::Contains("\r\n\r\n" + words));
  };
  const auto told = [&](const std::string& request, int status, const std::string& words) {
    told_within(std::chrono::hours(1), request, status, words);
  };
  const std::string post = "POST /lanes/orders/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n";
  told("GET /livez HTTP/1.1\r\nX-Large: " + std::string(20000, 'a'), 431, "the request is too large");
  told_within(milliseconds(20), "GET /livez HTTP/1.1\r\nHost: local", 408,
              "the request did not arrive in time");
  told("GET /" + std::string(500, 'a') + " HTTP/1.1\r\n\r\n", 414, "the path is too long");
  told(post + "Transfer-Encoding: chunked\r\n\r\n", 411, "a request with a body needs a Content-Length");
  told(post + "Content-Length: x\r\n\r\n", 400, "the Content-Length is not a number");
  told(post + "Content-Type: Multipart/Form-Data; boundary=x\r\nContent-Length: 9\r\n\r\n123456789", 415,
       "multipart forms are not supported");
}

TEST_CASE("a body that is compressed is refused and not unpacked, however small it is") {
  Operator person;
  person.start();
  const std::string large = "{}" + std::string(4 << 20, ' ');
  const auto packed = [&](httplib::detail::compressor&& compressor) {
    std::string out;
    REQUIRE(compressor.compress(large.data(), large.size(), true, [&](const char* part, std::size_t size) {
      out.append(part, size);
      return true;
    }));
    REQUIRE(out.size() < 8 * 1024);
    return out;
  };
  const auto gzip = packed(httplib::detail::gzip_compressor());
  const auto brotli = packed(httplib::detail::brotli_compressor());
  for (const auto* path : {"/reload", "/lanes/orders/3/pause"}) {
    for (const auto& [coding, body] : {std::pair("gzip", gzip), std::pair("deflate", gzip),
                                       std::pair("br", brotli), std::pair("BR", brotli)}) {
      INFO(path << " " << coding);
      CHECK(person.post(path, {{"X-Laneway", "1"}, {"Content-Encoding", coding}}, body) == 415);
      CHECK(person.text == "compressed bodies are not supported; send plain JSON\n");
      CHECK(person.asked.empty());
    }
  }
}

namespace {

/// Threads started in its life have this much; 8 MiB are usual, 2 MiB where the limit is lifted.
class SmallStacks {
 public:
  explicit SmallStacks(std::size_t bytes) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, bytes);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
  }
  ~SmallStacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  SmallStacks(const SmallStacks&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace

TEST_CASE("no request takes much of the stack, whatever httplib would match it with") {
  const SmallStacks small(1 << 20);
  const auto server = started();
  const auto repeated = [](std::string_view what) {
    std::string text;
    while (text.size() + what.size() < 8000) text += what;
    return text;
  };
  const std::string post = "POST /lanes/orders/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n";
  const std::string part =
      "--x\r\nContent-Disposition: form-data; name=\"" + repeated("a") + "\"\r\n\r\n1\r\n--x--\r\n";
  for (const std::string& request : {
           "GET /nothing HTTP/1.1\r\nHost: localhost\r\nrange: bytes=" + repeated("1-1,") + "1-1\r\n\r\n",
           "GET /nothing HTTP/1.1\r\nHost: localhost\nRANGE: bytes=" + repeated("1-1,") + "1-1\r\n\r\n",
           "POST /lanes/" + repeated("a/") + " HTTP/1.1\r\nX-Laneway: 1\r\nContent-Length: 1\r\n\r\nx",
           post + "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: " +
               std::to_string(part.size()) + "\r\n\r\n" + part,
       }) {
    INFO(request.substr(0, 60));
    CHECK(status_of(RawClient(*server).exchange(request)) / 100 == 4);
  }
  CHECK(serves(*server));
}

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

TEST_CASE("a slow client is told when its time is over, however it drips") {
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

TEST_CASE("connections that ask nothing keep nobody out, however many there are") {
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

TEST_CASE("while the workers are busy, requests beyond the bound are answered 503, and probes as ever") {
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

TEST_CASE("clients that do not read their answers keep no worker") {
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

TEST_CASE("stop ends connections that are open, and the port is free again") {
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

TEST_CASE("a taken port is unavailable, with the address in the message") {
  const auto first = started();
  const auto address = "127.0.0.1:" + std::to_string(first->port());
  const auto second = Server::start(address, sources());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().kind == ErrorKind::unavailable);
  CHECK(second.error().message == "cannot listen on " + address + ": Address already in use");
  CHECK_FALSE(second.error().hint.empty());
}

TEST_CASE("an address that is unknown or not ours is unavailable") {
  for (const auto* address : {"no-such-host.invalid:0", "192.0.2.1:0"}) {
    const auto server = Server::start(address, sources());
    REQUIRE_FALSE(server.ok());
    CHECK(server.error().kind == ErrorKind::unavailable);
    CHECK(server.error().message.starts_with(std::string("cannot listen on ") + address + ": "));
  }
}

TEST_CASE("what is no address is a configuration error") {
  for (const auto* address : {"", "9644", "localhost", ":9644", "127.0.0.1:", "127.0.0.1:x",
                              "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80 ", "[::1]", "[::1", "::1"}) {
    INFO(address);
    const auto server = Server::start(address, sources());
    REQUIRE_FALSE(server.ok());
    CHECK(server.error().kind == ErrorKind::configuration);
  }
}

TEST_CASE("an IPv6 address is listened on, where this machine has any") {
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

TEST_CASE("a name is listened on by its address") {
  const auto server = started(sources(), {}, "localhost:0");
  httplib::Client client("localhost", server->port());  // 127.0.0.1 or ::1, as this machine has it
  const auto answer = client.Get("/livez");
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

TEST_CASE("without a free descriptor in the process the port answers, one client after the other") {
  if (sanitizer_needs_descriptors) return;
  const auto server = started();
  std::vector<RawClient> clients(20);  // each has its socket already
  const AllDescriptors none_left;
  for (auto& client : clients) {
    client.connect(*server);
    CHECK(status_of(client.exchange("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200);
  }
}
