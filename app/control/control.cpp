#include <cstdlib>
#include <iostream>
#include <thread>

#include "app/cli/terminal.h"
#include "app/control/endpoint.h"
#include "app/control/table.h"
#include "app/exit_code.h"
#include "app/verbs.h"
#include "base/time.h"

namespace laneway::app {
namespace {

using cli::refused;

constexpr auto watch_interval = seconds(1);

/// See https://no-color.org: set and not empty.
bool wants_colours() {
  const char* none = std::getenv("NO_COLOR");
  return cli::draws_on_terminal() && (none == nullptr || *none == '\0');
}

/// The address alone is enough if it is all that the user has named.
Result<std::string> address_of(const control::Aim& aim) {
  if (aim.file.empty() && aim.addresses.size() == 1) return aim.addresses.front();
  auto found = control::find(aim);
  if (!found) return found.error();
  return found->endpoint.address;
}

/// Text that shows one answer of the service.
Result<std::string> shown(const control::Aim& aim, const control::Options& options) {
  const auto address = address_of(aim);
  if (!address) return address.error();
  const auto answer = admin::get(*address, "/status");
  if (!answer) return answer.error();
  const Error no_status{ErrorKind::unavailable,
                        *address + " is not a laneway service: GET /status did not return its status",
                        "give the address of admin.listen with --admin HOST:PORT"};
  if (answer->status != 200)
    return answer->from_laneway && answer->status != 404 ? control::error_of(*answer) : no_status;
  const bool live = options.watch && cli::draws_on_terminal();
  auto table = control::render_status(
      answer->body, {wants_colours(), live ? cli::terminal_rows() : 0, cli::terminal_columns()});
  if (!table) return no_status;
  return options.json ? cli::safe_text(answer->body) : *table;
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

/// Sends the change, prints the answer, and returns the exit code.
int change(const std::string& verb, const config::Source& source, const control::Options& options,
           const admin::Change& wish) {
  const auto aim = control::aim_of(options, source);
  if (!aim) return refused(verb, aim.error());
  const auto found = control::find(*aim);
  if (!found) return refused(verb, found.error());
  const auto answer = admin::post(found->endpoint, found->peer, wish);
  if (!answer) return refused(verb, answer.error());
  if (answer->status / 100 != 2) return refused(verb, control::error_of(*answer));
  std::cout << cli::safe_text(answer->body) << std::flush;
  return exit_code::done;
}

}  // namespace

int status(const config::Source& source, const control::Options& options) {
  const auto aim = control::aim_of(options, source);
  if (!aim) return refused("status", aim.error());
  const bool live = options.watch && cli::draws_on_terminal() && !options.json;
  if (live) std::cout << "\033[2J";
  for (bool once = false;; once = true) {
    const auto text = shown(*aim, options);
    if (!text && !once) return refused("status", text.error());
    const std::string now =
        text ? *text : cli::safe_text(text.error().text()) + '\n';  // the service may come back
    if (text || live)
      std::cout << (live ? frame(now) : now) << std::flush;
    else
      std::cerr << "laneway status: " << now;
    if (!options.watch || !std::cout) return exit_code::done;  // without output, the reader has gone
    std::this_thread::sleep_for(watch_interval);
  }
}

int reload(const config::Source& source, const control::Options& options) {
  admin::Change wish{"/reload"};
  if (options.dry_run) wish.parameters = {{"dry_run", "1"}};
  return change("reload", source, options, wish);
}

int order_parked(const config::Source& source, const std::string& verb, const control::Options& options) {
  admin::Change wish{"/parked/" + verb};
  if (verb == "give-up") wish.parameters = {{"pool", options.target}, {"reason", options.reason}};
  if (!options.subscriber.empty()) wish.parameters.emplace("subscriber", options.subscriber);
  return change(verb, source, options, wish);
}

int control(const config::Source& source, const std::string& verb, const control::Options& options) {
  const auto target = cli::parse_place(options.target);
  const bool record = verb == "skip";
  if (!target || record != target->offset.has_value())
    return refused(verb, {ErrorKind::usage,
                          record ? "'" + options.target + "' is not a record"
                                 : "'" + options.target + "' is not a topic or a partition",
                          record ? "TOPIC:PARTITION:OFFSET, such as orders:2:40"
                                 : "TOPIC or TOPIC:PARTITION, such as orders or orders:2"});
  // A service of any version knows the name pause.
  admin::Change wish{control::control_path(*target, verb == "suspend" ? "pause" : verb)};
  if (record) wish.parameters = {{"offset", std::to_string(*target->offset)}, {"reason", options.reason}};
  if (options.here) wish.parameters = {{"here", "1"}};
  return change(verb, source, options, wish);
}

}  // namespace laneway::app
