#include "handler/handler.h"

#include <exception>

namespace laneway::handler {
namespace {

Outcome panic(std::string reason) {
  auto outcome = Outcome::retry(std::move(reason));
  outcome.cause = Cause::panic;
  return outcome;
}

}  // namespace

void RecordHandler::handle(Task task) noexcept {
  const std::uint32_t size = task.size();
  for (std::uint32_t i = 0; i < size; ++i) {
    const Attempt attempt = task.attempt(i);
    Outcome outcome;
    try {
      outcome = handle_record(attempt);
    } catch (const std::exception& e) {
      outcome = panic(std::string("the handler threw: ") + e.what());
    } catch (...) {
      outcome = panic("the handler threw something that is not a std::exception");
    }
    const bool done = outcome.verdict == Verdict::done;
    if (!done && outcome.cause == Cause::verdict && attempt.stop.stop_requested())
      outcome.cause = Cause::timeout;
    task.answer(i, std::move(outcome));
    if (!done && task.sequential()) return;
  }
}

}  // namespace laneway::handler
