// Any bytes as an answer of a program of handler.exec: an outcome or an error, either safe to print; or as an
// answer to a request with several records: an outcome for each.
// First byte: 0, 1: the framing; 2, 3: a request, with so many records as the second byte says, 3: a cut
// answer; the rest: the frame or the body.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "handler/exec/exec_answer.h"
#include "handler/http/http_batch.h"

using namespace laneway;

namespace {

bool printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7F; });
}

void must(bool condition) {
  if (!condition) std::abort();
}

constexpr Duration longest_wait = seconds(86400);

void check(const handler::Outcome& outcome) {
  must(printable(outcome.reason) && outcome.reason.size() <= 4096 + 200);
  must(!outcome.after || (*outcome.after >= Duration::zero() && *outcome.after <= longest_wait));
}

void check_program(config::Framing framing, std::string_view frame) {
  const auto outcome = handler::exec_answer(framing, frame, 7);
  if (outcome) return check(*outcome);
  must(printable(outcome.error().message) && outcome.error().message.size() <= 4096 + 200);
}

void check_batch(bool cut, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t records = 1 + static_cast<unsigned char>(bytes[0]) % 8;
  handler::HttpAnswer answer;
  answer.status = 200;
  answer.body = bytes.substr(1);
  answer.cut = cut;
  const auto outcomes = handler::batch_verdicts(answer, records, "server", {longest_wait});
  must(outcomes.size() == records);
  for (const auto& outcome : outcomes) check(outcome);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto kind = data[0] % 4;
  if (kind < 2)
    check_program(kind == 0 ? config::Framing::json : config::Framing::binary, rest);
  else
    check_batch(kind == 3, rest);
  return 0;
}
