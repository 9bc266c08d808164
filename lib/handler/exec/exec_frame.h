// The frames between laneway and a program of `handler.exec`: what is written to its standard input, and how
// what it writes to its standard output is cut into frames. Pure. The verdict in an answer: exec_answer.h.
//
// JSON: a record is one line, described in record_json.h; an answer is one line too, see exec_answer.h.
//
// Binary: a frame is its length (4 bytes) and then as many bytes. Numbers are big-endian two's complement;
// `bytes` is a length (4 bytes, -1 for null) and as many bytes, as they are in the record.
//
//   record   version (1 byte, 1) · id (8) · partition (4) · offset (8) · timestamp (8, ms, -1 for none) ·
//            attempt (4) · topic (bytes) · key (bytes) · value (bytes) · headers (4, how many), each: name
//            (bytes) · value (bytes); the last of them is Laneway-Delivery-Id (delivery_id.h)
//   answer   version (1 byte, 1) · id (8, the record's) · outcome (1: 0 done, 1 retry, 2 reject,
//            3 unavailable) · after (8, ms, -1 for none) · reason (the rest, UTF-8)
//
// `id` is another one for each frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "handler/handler.h"

namespace laneway::handler {

inline constexpr std::uint8_t exec_version = 1;
/// An answer's bytes at most, without its length or its line's end.
inline constexpr std::size_t longest_exec_answer = 64 * 1024;

/// The frame, whole.
std::string exec_frame(config::Framing framing, std::uint64_t id, const Attempt& attempt);

/// Cuts what a program writes into frames. Fed in pieces of any size; what it keeps is bounded by the longest
/// answer and the last piece.
class ExecFrameReader {
 public:
  explicit ExecFrameReader(config::Framing framing) : framing_(framing) {}

  enum class State {
    incomplete,  ///< Feed more.
    complete,    ///< frame() is there.
    too_long,    ///< The frame is longer than an answer may be, or says that it will be.
  };

  void feed(std::string_view bytes) { buffer_ += bytes; }
  State state() const;
  /// What is complete, without its length or its line's end. Valid until the next feed() or take().
  std::string_view frame() const;
  /// Goes on behind the complete frame.
  void take();
  /// Holds nothing.
  bool empty() const { return buffer_.empty(); }
  /// What has been fed and not taken, for messages.
  std::string_view pending() const { return buffer_; }

 private:
  std::size_t size_of_head() const;

  config::Framing framing_;
  std::string buffer_;
};

}  // namespace laneway::handler
