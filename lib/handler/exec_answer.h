// What the answer of a program of `handler.exec` means. Pure.
//
// JSON: an object, on one line:
//
//   {"outcome":"done"}
//   {"outcome":"retry","reason":"the database is locked","after":"5s"}
//
// `outcome` is one of done, retry, reject, unavailable. `reason` (text) and `after` (a duration such as
// 500ms, for retry and unavailable, a day at most) may be left out or null. `id` may be the record's: then an
// answer to another record is never taken for this one's. Other members are passed over. The binary form is
// in exec_frame.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// `frame` as ExecFrameReader yields it; `id` is what the request had. The reason is cut to 1,000 bytes and
/// safe to print. Error: internal; its message continues "the program's answer ...".
Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id);

/// The beginning of `bytes`, safe to print, for messages.
std::string exec_excerpt(std::string_view bytes, std::size_t longest = 200);

}  // namespace laneway::handler
