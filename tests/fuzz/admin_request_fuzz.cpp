// Any bytes as a request to the admin port: an answer or none, never an exception, and nothing is done
// without the token or with what makes no sense. The input is what a client sends before it stops sending.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "admin/http/connection.h"
#include "admin/server/routes.h"
#include "telemetry/log.h"

using namespace laneway;
using namespace laneway::admin;

namespace {

constexpr std::string_view token = "5ecret";
constexpr ConnectionLimits limits;

int asked = 0;

void must(bool condition) {
  if (!condition) std::abort();
}

service::ControlAnswer control(const service::ControlRequest& request) {
  ++asked;
  must(!request.topic.empty() && request.topic.find('/') == std::string::npos);
  must(!request.partition || *request.partition >= 0);
  if (request.action == service::ControlRequest::Action::skip)
    must(request.partition && request.offset >= 0 && !request.reason.empty() && request.reason.size() <= 500);
  return {service::ControlAnswer::Kind::done, request.topic + ' ' + request.reason};
}

service::ControlAnswer reload(const ReloadRequest& request) {
  ++asked;
  return {service::ControlAnswer::Kind::done, request.dry_run ? "would change" : "changed"};
}

Routes& routes() {
  static Routes made(
      {[] { return std::string("metrics"); }, [] { return service::Liveness{}; },
       [] { return service::Readiness{}; }, [] { return std::string("{}"); },
       [](std::uint64_t) { return std::string("{}"); }, control, reload, [] { return std::string(token); }},
      {"admin.example"}, true);
  return made;
}

/// All that is answered.
std::string exchange(std::string_view request) {
  std::array<int, 2> ends{};
  must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  const Descriptor client(ends[0]);
  must(::send(client.number(), request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()));
  ::shutdown(client.number(), SHUT_WR);
  const auto now = SteadyClock::now();
  Connection connection(Descriptor(ends[1]), limits, now);
  connection.go_on(now);
  if (connection.state() == Connection::State::at_work)
    connection.answer(routes().answer(connection.take_request()), now);
  std::string answer;
  std::array<char, 65536> part{};
  for (auto n = ::recv(client.number(), part.data(), part.size(), 0); n > 0;
       n = ::recv(client.number(), part.data(), part.size(), 0))
    answer.append(part.data(), static_cast<std::size_t>(n));
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  telemetry::set_up_log(telemetry::Level::error, telemetry::Format::text);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view request(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 32 * 1024));
  asked = 0;
  const auto answer = exchange(request);
  must(asked <= 1);
  // httplib takes tabs for spaces in the request line and ignores both before the method, as RFC 9112, 3
  // allows.
  const auto method = request.substr(std::min(request.find_first_not_of(" \t"), request.size()));
  if (asked == 1) must(method.starts_with("POST") && request.find(token) != std::string_view::npos);
  if (answer.empty()) return 0;
  must(answer.starts_with("HTTP/1.1 ") && answer.find("\r\n\r\n") != std::string::npos);
  must(!answer.starts_with("HTTP/1.1 500"));
  return 0;
}
