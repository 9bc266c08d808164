// The frames between laneway and a program of `handler.exec`: the frames written to its standard input, and
// the splitting of its standard output into frames. Pure. The verdict in an answer: exec_answer.h.
//
// JSON: a record is one line, described in record_json.h; an answer is one line too (exec_answer.h).
//
// Binary: a frame is its length (4 bytes), followed by that many bytes. Numbers are big-endian two's
// complement; `bytes` is a length (4 bytes, -1 for null), followed by that many bytes, unchanged from the
// record.
//
//   record   version (1 byte, 1) · id (8) · partition (4) · offset (8) · timestamp (8, ms, -1 for none) ·
//            attempt (4) · topic (bytes) · key (bytes) · value (bytes) · headers (4, how many), each: name
//            (bytes) · value (bytes); the last of them is Laneway-Delivery-Id (delivery_id.h), after
//            Laneway-Part with the id of a sub-job
//   answer   version (1 byte, 1) · id (8, the record's) · outcome (1: 0 done, 1 retry, 2 reject,
//            3 unavailable, 4 done with results) · after (8, ms, -1 for none) · reason (the rest, UTF-8).
//            With outcome 4 there are results instead of a reason: results (4, how many), each: id (bytes) ·
//            key (bytes, null for the record's) · value (bytes) · headers (4, how many), each: name (bytes) ·
//            value (bytes)
//
// `id` differs for each frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "handler/handler.h"

namespace laneway::handler {

inline constexpr std::uint8_t exec_version = 1;
/// The longest answer in bytes, without its length or its line's end, unless it may have results.
inline constexpr std::size_t longest_exec_answer = 64 * 1024;
/// The longest answer that may have results: JSON and base64 make the results (results.h) longer.
inline constexpr std::size_t longest_exec_results = 24 << 20;

/// The complete frame.
std::string exec_frame(config::Framing framing, std::uint64_t id, const Attempt& attempt);

/// Splits a program's output into frames. The output may be fed in pieces of any size; the memory is bounded
/// by the longest answer and the last piece.
class ExecFrameReader {
 public:
  explicit ExecFrameReader(config::Framing framing, std::size_t longest = longest_exec_answer)
      : framing_(framing), longest_(longest) {}

  enum class State {
    incomplete,  ///< Feed more.
    complete,    ///< frame() is complete.
    too_long,    ///< The frame is longer than an answer may be, or its length announces that.
  };

  void feed(std::string_view bytes);
  State state() const;
  /// The complete frame, without its length or its line's end. Valid until the next feed() or take().
  std::string_view frame() const;
  /// Removes the complete frame and continues behind it.
  void take();
  /// Whether the buffer is empty.
  bool empty() const { return buffer_.empty(); }
  /// The bytes that were fed and not taken, for messages.
  std::string_view pending() const { return buffer_; }
  /// The longest answer in bytes.
  std::size_t longest() const { return longest_; }

 private:
  std::size_t size_of_head() const;

  config::Framing framing_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t line_end_ = std::string::npos;  // place of the first end of a line; of JSON
};

}  // namespace laneway::handler
