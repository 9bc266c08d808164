#include "handler/outcome.h"

#include <cstddef>

namespace laneway::handler {

static_assert(outcome_labels.size() == static_cast<std::size_t>(OutcomeLabel::panic) + 1, "a name for each");

std::size_t size_of(const Part& part) {
  std::size_t size = (part.key ? part.key->size() : 0) + (part.value ? part.value->size() : 0);
  for (const auto& [name, value] : part.headers) size += name.size() + (value ? value->size() : 0);
  return size;
}

OutcomeLabel label_of(const Outcome& outcome) {
  if (outcome.cause == Cause::panic) return OutcomeLabel::panic;
  if (outcome.cause == Cause::timeout) return OutcomeLabel::timeout;
  switch (outcome.verdict) {
    case Verdict::done:
      return OutcomeLabel::success;
    case Verdict::retry:
      return OutcomeLabel::retry;
    case Verdict::reject:
      return OutcomeLabel::rejected_record;
    case Verdict::unavailable:
      return OutcomeLabel::unavailable;
  }
  return OutcomeLabel::panic;
}

const char* outcome_name(const Outcome& outcome) {
  return outcome_labels[static_cast<std::size_t>(label_of(outcome))];
}

}  // namespace laneway::handler
