#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "app/cli/terminal.h"
#include "app/control/endpoint.h"
#include "app/control/table.h"
#include "app/exit_code.h"
#include "app/verbs.h"
#include "base/time.h"

namespace laneway::app {
namespace {

constexpr auto watch_interval = seconds(1);

int refused(const std::string& verb, const Error& error) {
  std::string text = error.text();
  if (text.ends_with('\n')) text.pop_back();  // a report on a configuration ends its lines
  std::cerr << "laneway " << verb << ": " << text << '\n';
  return exit_code_of(error.kind);
}

bool on_terminal() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// See https://no-color.org: set and not empty.
bool wants_colours() {
  const char* none = std::getenv("NO_COLOR");
  return on_terminal() && (none == nullptr || *none == '\0');
}

/// Text that shows one answer of the service.
Result<std::string> shown(const admin::Endpoint& endpoint, const control::Options& options) {
  const auto answer = admin::get(endpoint, "/status");
  if (!answer) return answer.error();
  const Error no_status{ErrorKind::unavailable,
                        endpoint.address + " is not a laneway service: GET /status did not return its status",
                        "give the address of admin.listen with --admin HOST:PORT"};
  if (answer->status != 200)
    return answer->from_laneway && answer->status != 404 ? control::error_of(*answer) : no_status;
  const bool live = options.watch && on_terminal();
  auto table = control::render_status(
      answer->body, {wants_colours(), live ? cli::terminal_rows() : 0, cli::terminal_columns()});
  if (!table) return no_status;
  return options.json ? answer->body : *table;
}

/// Draws over the last frame without flicker: clears the rest of each line, then everything below.
std::string frame(const std::string& text) {
  std::string out = "\033[H";
  for (const char c : text) {
    if (c == '\n') out += "\033[K";
    out += c;
  }
  return out + "\033[J";
}

int watch(const admin::Endpoint& endpoint, const control::Options& options) {
  const bool live = on_terminal() && !options.json;
  if (live) std::cout << "\033[2J";
  for (bool once = false;; once = true) {
    const auto text = shown(endpoint, options);
    if (!text && !once) return refused("status", text.error());
    const std::string now = text ? *text : text.error().text() + '\n';  // the service may come back
    if (text || live)
      std::cout << (live ? frame(now) : now) << std::flush;
    else
      std::cerr << "laneway status: " << now;
    if (!std::cout) return exit_code::done;  // the reader has gone
    std::this_thread::sleep_for(watch_interval);
  }
}

}  // namespace

int status(const config::Source& source, const control::Options& options) {
  const auto endpoint = control::find_endpoint(options, source);
  if (!endpoint) return refused("status", endpoint.error());
  if (options.watch) return watch(*endpoint, options);
  const auto text = shown(*endpoint, options);
  if (!text) return refused("status", text.error());
  std::cout << *text << std::flush;
  return exit_code::done;
}

int reload(const config::Source& source, const control::Options& options) {
  const auto endpoint = control::find_endpoint(options, source);
  if (!endpoint) return refused("reload", endpoint.error());
  const auto answer = admin::post(*endpoint, options.dry_run ? "/reload?dry_run=1" : "/reload", {});
  if (!answer) return refused("reload", answer.error());
  if (answer->status != 200) return refused("reload", control::error_of(*answer));
  std::cout << answer->body << std::flush;
  return exit_code::done;
}

int control(const config::Source& source, const std::string& verb, const control::Options& options) {
  const auto target = control::parse_target(options.target);
  const bool record = verb == "skip";
  if (!target || record != target->offset.has_value())
    return refused(verb, {ErrorKind::usage,
                          record ? "'" + options.target + "' is not a record"
                                 : "'" + options.target + "' is not a topic or a partition",
                          record ? "TOPIC:PARTITION:OFFSET, such as orders:2:40"
                                 : "TOPIC or TOPIC:PARTITION, such as orders or orders:2"});
  const auto endpoint = control::find_endpoint(options, source);
  if (!endpoint) return refused(verb, endpoint.error());
  using Json = nlohmann::json;
  const auto body = record ? Json{{"offset", *target->offset}, {"reason", options.reason}}.dump(
                                 -1, ' ', false, Json::error_handler_t::replace)
                           : std::string();
  const auto* sent = verb == "suspend" ? "pause" : verb.c_str();  // a service of any version knows this name
  const auto answer = admin::post(*endpoint, control::control_path(*target, sent), body);
  if (!answer) return refused(verb, answer.error());
  if (answer->status / 100 != 2) return refused(verb, control::error_of(*answer));
  std::cout << answer->body << std::flush;
  return exit_code::done;
}

}  // namespace laneway::app
