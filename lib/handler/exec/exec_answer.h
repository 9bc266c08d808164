// The meaning of an answer from a program of `handler.exec`. Pure.
//
// JSON: an object on one line, described in verdict_json.h. The object may have an `id`, the record's: an
// answer to another record is then never mistaken for this record's answer. The binary form is in
// exec_frame.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "handler/format/verdict_json.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// `frame`: as read by ExecFrameReader; `id`: the id of the request; `record`: the record whose results go to
/// another pool, null to ignore results. The reason is cut to 1,000 bytes and safe to print. Error: internal;
/// its message continues "the program's answer ...".
Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id,
                            const Content* record = nullptr);

}  // namespace laneway::handler
