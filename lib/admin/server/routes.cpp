#include "admin/server/routes.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "admin/http/host_check.h"
#include "admin/http/own_header.h"
#include "admin/json/status_json.h"
#include "admin/page/page.h"
#include "admin/server/control_request.h"
#include "base/decimal.h"
#include "telemetry/log.h"

namespace laneway::admin {
namespace {

constexpr const char* plain = "text/plain; charset=utf-8";
constexpr const char* json = "application/json";
constexpr std::size_t most_body = 8 * 1024;
constexpr std::size_t longest_nonce = 128;
constexpr std::size_t most_path =
    400;  // a topic has at most 249; httplib matches it with a regular expression
constexpr const char* prometheus_text = "text/plain; version=0.0.4; charset=utf-8";

void answer_text(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + "\n", plain);
}

void answer_page(httplib::Response& response) {
  const auto nonce = new_nonce();
  response.set_header("Content-Security-Policy", page_policy(nonce));
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  response.set_content(page(nonce), "text/html; charset=utf-8");
}

bool host_acceptable(const httplib::Request& request, const std::vector<std::string>& names) {
  // Browsers always send the header; scripts that speak HTTP/1.0 may not.
  const auto count = request.get_header_value_count("Host");
  return count == 0 || (count == 1 && host_allowed(request.get_header_value("Host"), names));
}

/// Compression costs more than it saves on a local scrape.
void simplify(httplib::Request& request) { request.headers.erase("Accept-Encoding"); }

/// A request and its answer in memory, as httplib's Stream.
class Exchange final : public httplib::Stream {
 public:
  explicit Exchange(std::string request) : request_(std::move(request)) {}
  std::string take_answer() { return std::move(answer_); }

  bool is_readable() const override { return read_ < request_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* into, std::size_t size) override {
    const auto count = request_.copy(into, size, read_);
    read_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    answer_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  // httplib needs these only for its own logs.
  void get_remote_ip_and_port(std::string& ip, int& port) const override { nowhere(ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { nowhere(ip, port); }
  int socket() const override { return -1; }

 private:
  static void nowhere(std::string& ip, int& port) {
    ip.clear();
    port = 0;
  }

  const std::string request_;
  std::size_t read_ = 0;
  std::string answer_;
};

bool wants_json(const httplib::Request& request) {
  return request.get_param_value("format") == "json" ||
         request.get_header_value("Accept").find("application/json") != std::string::npos;
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0");
}

/// httplib reads the parts of such a body with a regular expression, too.
bool is_multipart(const httplib::Request& request) {
  return strncasecmp(request.get_header_value("Content-Type").c_str(), "multipart/", 10) == 0;
}

/// In the order of ControlAnswer::Kind.
constexpr std::array statuses{200, 202, 404, 409, 422, 504};
static_assert(statuses.size() == static_cast<std::size_t>(service::ControlAnswer::Kind::no_answer) + 1,
              "a status for each");

}  // namespace

Routes::Routes(AdminSources sources, std::vector<std::string> names, bool loopback)
    : sources_(std::move(sources)), names_(std::move(names)), loopback_(loopback) {
  // All checks happen before httplib would read a body.
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    return route(request, response);
  });
  set_payload_max_length(most_body);
  set_default_headers({{own_header, own_header_value}});
  Post(".*",
       [this](const httplib::Request& request, httplib::Response& response) { change(request, response); });
  set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty())
      answer_text(response, response.status,
                  response.status == 413 ? "the body is too large" : "the request cannot be read");
  });
  set_exception_handler(
      [](const httplib::Request& request, httplib::Response& response, std::exception_ptr thrown) {
        std::string what = "not a std::exception";
        try {
          std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
          what = e.what();
        } catch (...) {
        }
        telemetry::log_repeating(telemetry::Level::error, "admin request failed", "admin request failed",
                                 {{"path", request.path}, {"error", what}});
        answer_text(response, 500, "internal error; see the service's log");
      });
}

std::string Routes::answer(std::string request) {
  Exchange exchange(std::move(request));
  bool closed = false;
  // httplib 0.18 (Debian 13) also takes the addresses; nothing here reads them.
  const auto process = [&](auto& self) {
    if constexpr (requires { self.process_request(exchange, true, closed, simplify); })
      self.process_request(exchange, true, closed, simplify);
    else
      self.process_request(exchange, "", 0, "", 0, true, closed, simplify);
  };
  process(*this);
  return exchange.take_answer();
}

Routes::HandlerResponse Routes::route(const httplib::Request& request, httplib::Response& response) const {
  // Answers show the present state, have the type that they declare, and are not for pages of other sites.
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  if (!host_acceptable(request, names_)) {
    answer_text(response, 403,
                "this Host header is refused: use the IP address, or set admin.listen to the name");
  } else if (request.path.size() > most_path) {
    answer_text(response, 414, "the path is too long");
  } else if (is_control_path(request.path) || request.path == reload_path) {
    return begin_change(request, response);
  } else if (!look(request, response)) {
    answer_text(response, 404,
                "no such path: the paths are /, /metrics, /livez, /readyz, /status, /history, /identity, "
                "POST /lanes/…, POST /parked/… and POST /reload");
  }
  return HandlerResponse::Handled;
}

/// Returns false if there is no such path.
bool Routes::look(const httplib::Request& request, httplib::Response& response) const {
  const std::map<std::string_view, std::function<void()>> answers{
      {"/", [&] { answer_page(response); }},
      {"/metrics", [&] { response.set_content(sources_.metrics(), prometheus_text); }},
      {"/livez", [&] { live(response); }},
      {"/readyz", [&] { ready(request, response); }},
      {"/status", [&] { response.set_content(sources_.status(), json); }},
      {"/history", [&] { history(request, response); }},
      {identity_path, [&] { identify(request, response); }},
  };
  const auto found = answers.find(request.path);
  if (found == answers.end()) return false;
  response.status = 200;
  if (request.method == "GET" || request.method == "HEAD") {
    found->second();
  } else {
    response.set_header("Allow", "GET, HEAD");
    answer_text(response, 405, "method not allowed; use GET");
  }
  return true;
}

void Routes::history(const httplib::Request& request, httplib::Response& response) const {
  const auto after =
      decimal<std::uint64_t>(request.has_param("after") ? request.get_param_value("after") : "0");
  if (!after) return answer_text(response, 400, "'after' must be a number, as 'last' of an earlier answer");
  response.set_content(sources_.history(*after), json);
}

void Routes::live(httplib::Response& response) const {
  const auto liveness = sources_.live();
  if (!liveness.live) return answer_text(response, 503, liveness.reason);
  response.set_content("ok\n", plain);
}

void Routes::ready(const httplib::Request& request, httplib::Response& response) const {
  const auto readiness = sources_.ready();
  response.status = readiness.ready() ? 200 : 503;
  if (wants_json(request)) return response.set_content(readiness_json(readiness), json);
  std::string text = readiness.ready() ? "ready\n" : "";
  for (const auto& reason : readiness.reasons) text += reason.text + '\n';
  for (const auto& lane : readiness.suspended) text += lane + " is suspended by an operator\n";
  response.set_content(text, plain);
}

void Routes::identify(const httplib::Request& request, httplib::Response& response) const {
  const auto nonce = request.get_param_value("nonce");
  if (nonce.size() > longest_nonce)
    return answer_text(response, 400, "'nonce' is longer than " + std::to_string(longest_nonce) + " bytes");
  nlohmann::ordered_json answer{{"group", sources_.identity.group}, {"file", sources_.identity.file}};
  if (const auto token = sources_.token(); !token.empty()) {
    const auto challenge = challenges_.give(SteadyClock::now());
    answer["challenge"] = challenge;
    answer["proof"] = service_proof(token, nonce, challenge, sources_.identity);
  }
  response.set_content(answer.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n', json);
}

std::optional<Refusal> Routes::refuse(const httplib::Request& request) const {
  const auto authorization = request.get_header_value("Authorization");
  if (authorization.starts_with(proof_scheme)) return refuse_proof(request);
  return refuse_change(
      {sources_.token(), loopback_},
      {authorization, request.get_header_value("Content-Type"), request.get_header_value(own_header)});
}

/// Of a request with a proof: Laneway CHALLENGE PROOF.
std::optional<Refusal> Routes::refuse_proof(const httplib::Request& request) const {
  const auto given = request.get_header_value("Authorization").substr(proof_scheme.size());
  const auto blank = std::min(given.find(' '), given.size());
  const auto challenge = given.substr(0, blank);
  const auto proof = given.substr(std::min(blank + 1, given.size()));
  const auto token = sources_.token();
  if (has_body(request))
    return Refusal{400, "a request with a proof has no body: the proof does not cover it"};
  if (token.empty()) return Refusal{401, "this service has no token that a proof could be checked with"};
  const Refusal not_good{401, "the challenge of this request is unknown, used or too old; request a new one"};
  const auto now = SteadyClock::now();
  if (!challenges_.good(challenge, now)) return not_good;
  if (!same_secret(change_proof(token, challenge, {request.path, request.params}, sources_.identity), proof))
    return Refusal{401,
                   "the proof does not fit: the token differs from that of admin.token_file, or the request "
                   "was meant for another service"};
  if (!challenges_.use(challenge, now)) return not_good;
  return std::nullopt;
}

/// Unhandled: the change is allowed, and its body must be read first.
Routes::HandlerResponse Routes::begin_change(const httplib::Request& request,
                                             httplib::Response& response) const {
  if (request.method != "POST") {
    response.set_header("Allow", "POST");
    answer_text(response, 405, "method not allowed; use POST");
  } else if (const auto refusal = refuse(request)) {
    if (refusal->status == 401) response.set_header("WWW-Authenticate", "Bearer");
    telemetry::log_repeating(telemetry::Level::warn, "admin refused", "admin request refused",
                             {{"path", request.path}, {"error", refusal->text}});
    answer_text(response, refusal->status, refusal->text);
  } else if (is_multipart(request)) {
    answer_text(response, 415, "multipart forms are not supported; send JSON");
  } else if (request.has_header("Content-Encoding")) {
    // httplib would unpack the whole body: three kilobytes can become gigabytes, and its limit applies to the
    // received bytes.
    answer_text(response, 415, "compressed bodies are not supported; send plain JSON");
  } else if (has_body(request)) {
    return HandlerResponse::Unhandled;
  } else {
    change(request, response);
  }
  return HandlerResponse::Handled;
}

void Routes::change(const httplib::Request& request, httplib::Response& response) const {
  const auto carry_out = [&](const auto& parsed, const auto& source) {
    if (const auto* refusal = std::get_if<Refusal>(&parsed))
      return answer_text(response, refusal->status, refusal->text);
    const auto answer = source(std::get<0>(parsed));
    answer_text(response, statuses[static_cast<std::size_t>(answer.kind)], answer.text);
  };
  if (request.path == reload_path)
    carry_out(parse_reload(request.params, request.body), sources_.reload);
  else
    carry_out(parse_control(request.path, request.params, request.body), sources_.control);
}

}  // namespace laneway::admin
