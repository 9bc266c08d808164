#include "admin/server/server.h"

#include <httplib.h>

#include <atomic>
#include <stdexcept>

#include "catch.h"
#include "server_support.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

constexpr std::string_view svg_namespace = "http://www.w3.org/2000/svg";

}  // namespace

TEST_CASE("metrics are served in Prometheus' text format") {
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

TEST_CASE("readiness is 200, or 503 with a line for each reason, or JSON on request") {
  std::atomic<bool> ready{true};
  auto from = sources();
  from.ready = [&] {
    service::Readiness readiness;
    if (!ready)
      readiness.reasons = {{service::ReasonCode::no_broker, "no broker", "", -1},
                           {service::ReasonCode::stalled, "orders:3: x", "orders", 3}};
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

TEST_CASE("a POST pauses or resumes a lane or skips a record, with parameters or JSON") {
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

TEST_CASE("a POST without a body is answered at once") {
  Operator person;
  person.start();
  const auto answer =
      RawClient(*person.server)
          .exchange("POST /lanes/orders/3/pause HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n\r\n");
  CHECK(status_of(answer) == 200);
  CHECK(person.asked == "0 orders 3");
}

TEST_CASE("the history is served from the number that the reader asks for") {
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

TEST_CASE("the status code of an answer is the result of the request") {
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

TEST_CASE("a POST reads the configuration again, or reports what would change") {
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

TEST_CASE("a changed token takes effect with the next request") {
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

TEST_CASE("a forbidden or unreadable request changes nothing") {
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

TEST_CASE("a request without a token over an address that others reach changes nothing") {
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

TEST_CASE("an unknown path answers 404, and a method that is not allowed 405") {
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

TEST_CASE("the page is one document that runs only its own script, by a nonce of its own") {
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

TEST_CASE("no answer is cached, taken for another type, or read by a page of another site") {
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

TEST_CASE("a query is ignored, and HEAD answers without a body") {
  const auto server = started();
  httplib::Client client("127.0.0.1", server->port());
  CHECK(client.Get("/livez?verbose=1")->status == 200);
  const auto answer = client.Head("/metrics");
  CHECK(answer->status == 200);
  CHECK(answer->get_header_value("Content-Length") == "35");
  CHECK(answer->body.empty());
}

TEST_CASE("an exception of a source answers 500 without its text, and the server goes on") {
  auto from = sources();
  from.metrics = []() -> std::string { throw std::runtime_error("private detail"); };
  const auto server = started(from);
  const auto answer = RawClient(*server).exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(status_of(answer) == 500);
  CHECK(answer.find("private detail") == std::string::npos);
  CHECK(serves(*server));
}

TEST_CASE("a foreign Host is refused, so that a web page cannot read the answers through a browser") {
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

TEST_CASE("a script that uses HTTP/1.0 without a Host is served") {
  const auto server = started();
  CHECK(status_of(RawClient(*server).exchange("GET /livez HTTP/1.0\r\n\r\n")) == 200);
}

TEST_CASE("ranges and compression are ignored") {
  const auto server = started();
  const auto answer = RawClient(*server).exchange(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-,0-,0-\r\nAccept-Encoding: br, "
      "gzip\r\n\r\n");
  CHECK(status_of(answer) == 200);
  CHECK(answer.ends_with("\r\n\r\n# TYPE laneway_x gauge\nlaneway_x 1\n"));
}

TEST_CASE("a compressed body is refused without unpacking, however small the body is") {
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
