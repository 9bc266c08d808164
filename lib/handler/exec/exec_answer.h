// What the answer of a program of `handler.exec` means. Pure.
//
// JSON: an object on one line, described in verdict_json.h. It may have an `id`, the record's: then an answer
// to another record is never taken for this one's. The binary form is in exec_frame.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "handler/format/verdict_json.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// `frame` as ExecFrameReader yields it; `id` is what the request had. The reason is cut to 1,000 bytes and
/// safe to print. Error: internal; its message continues "the program's answer ...".
Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id);

}  // namespace laneway::handler
