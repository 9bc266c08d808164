#include "handler/handler.h"

#include <exception>

namespace laneway::handler {

bool answer_attempt(Task& task, std::uint32_t index, const StopToken& stop, Outcome&& outcome) {
  const bool done = outcome.verdict == Verdict::done;
  if (!done && outcome.cause == Cause::verdict && stop.stop_requested()) outcome.cause = Cause::timeout;
  task.answer(index, std::move(outcome));
  return done || !task.sequential();
}

Outcome outcome_of_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return Outcome::panic(std::string("the handler threw: ") + e.what());
  } catch (...) {
    return Outcome::panic("the handler threw something that is not a std::exception");
  }
}

Outcome RecordHandler::outcome_of(const Attempt& attempt) {
  try {
    return handle_record(attempt);
  } catch (...) {
    return outcome_of_exception();
  }
}

void RecordHandler::handle(Task task) noexcept {
  std::uint32_t index = 0;
  while (const auto attempt = task.next())
    if (!answer_attempt(task, index++, attempt->stop, outcome_of(*attempt))) return;
}

}  // namespace laneway::handler
