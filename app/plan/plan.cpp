// laneway plan
#include <algorithm>
#include <iostream>
#include <thread>

#include "admin/client.h"
#include "app/cli/terminal.h"
#include "app/exit_code.h"
#include "app/plan/measure.h"
#include "app/plan/options.h"
#include "app/verbs.h"

namespace laneway::app {
namespace {

Result<plan::Reading> read_from(const std::string& address) {
  const auto answer = admin::get(address, "/status");
  if (!answer) {
    Error error = answer.error();
    if (error.kind == ErrorKind::unavailable)  // the hint names options of other verbs
      error.hint =
          "is the service running? --from takes the address of its admin.listen, such as 127.0.0.1:9644";
    return error;
  }
  auto reading = answer->status == 200 ? plan::read_status(answer->body) : plan::not_laneway();
  if (!reading)
    return Error{reading.error().kind, address + ": " + reading.error().message, reading.error().hint};
  return reading;
}

Result<std::vector<plan::Reading>> read_all(const plan::Options& options) {
  std::vector<plan::Reading> all;
  for (const auto& url : options.from) {
    auto reading = read_from(admin::address_in(url));
    if (!reading) return reading.error();
    all.push_back(std::move(reading).value());
  }
  return all;
}

Result<plan::Measured> measure(const plan::Options& options) {
  const auto before = read_all(options);
  if (!before) return before.error();
  const auto begun = SteadyClock::now();
  std::this_thread::sleep_for(options.window);
  const auto after = read_all(options);
  if (!after) return after.error();
  return plan::measure(*before, *after, SteadyClock::now() - begun);
}

}  // namespace

int plan_load(const plan::Options& options) {
  plan::Load load;
  load.cores = std::max(1U, std::thread::hardware_concurrency());
  std::string text;
  if (!options.from.empty()) {
    const auto measured = measure(options);
    if (!measured) return cli::refused("plan", measured.error());
    text = plan::print(*measured, options.window);
    load = measured->load;
  }
  load = plan::with_given(load, options);
  text += plan::print(load, plan::size(load));  // names the lanes as the service does
  std::cout << cli::safe_text(text);
  return exit_code::done;
}

}  // namespace laneway::app
