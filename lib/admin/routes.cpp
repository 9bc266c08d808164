#include "admin/routes.h"

#include <exception>

#include "admin/host_check.h"
#include "telemetry/log.h"

namespace laneway::admin {
namespace {

constexpr const char* plain = "text/plain; charset=utf-8";
constexpr const char* prometheus_text = "text/plain; version=0.0.4; charset=utf-8";

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", plain);
}

bool host_acceptable(const httplib::Request& request, const std::vector<std::string>& names) {
  // Browsers always send it; scripts that speak HTTP/1.0 may not.
  const auto count = request.get_header_value_count("Host");
  return count == 0 || (count == 1 && host_allowed(request.get_header_value("Host"), names));
}

/// Ranges could make an answer many times its size, and compression costs more than it saves on a local
/// scrape.
void simplify(httplib::Request& request) {
  request.ranges.clear();
  request.headers.erase("Accept-Encoding");
}

}  // namespace

Routes::Routes(AdminSources sources, std::vector<std::string> names)
    : sources_(std::move(sources)), names_(std::move(names)) {
  // All routing is done before httplib would read a body.
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    route(request, response);
    return HandlerResponse::Handled;
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
        refuse(response, 500, "internal error; see the service's log");
      });
}

void Routes::answer(Connection& connection) {
  bool closed = false;
  process_request(connection, true, closed, simplify);
}

void Routes::route(const httplib::Request& request, httplib::Response& response) const {
  if (!host_acceptable(request, names_))
    return refuse(response, 403,
                  "this Host is not served: use the IP address, or put the name into admin.listen");
  const bool metrics = request.path == "/metrics";
  if (!metrics && request.path != "/livez")
    return refuse(response, 404, "not found; there are /metrics and /livez");
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    return refuse(response, 405, "method not allowed; use GET");
  }
  response.status = 200;
  if (metrics) return response.set_content(sources_.metrics(), prometheus_text);
  live(response);
}

void Routes::live(httplib::Response& response) const {
  const Liveness liveness = sources_.live();
  if (!liveness.live) return refuse(response, 503, liveness.reason);
  response.set_content("ok\n", plain);
}

}  // namespace laneway::admin
