// A running program of `handler.exec`: one record at a time goes in as a frame, and one answer comes back.
//
// Threads: exchange() by one thread at a time; errors() and process() by any. Blocks: exchange() until the
// answer, the deadline, or 20 ms after a stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/stop_token.h"
#include "base/time.h"
#include "config/config.h"
#include "handler/content.h"
#include "handler/exec/exec_errors.h"
#include "handler/exec/exec_frame.h"
#include "handler/exec/exec_process.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// The longest delay until a stop is noticed while waiting for a program.
inline constexpr Duration exec_stop_delay = milliseconds(20);
/// How long to wait for the exit of a program that closed its output, or whose input has ended.
inline constexpr Duration exec_exit_patience = milliseconds(500);

/// The result of an exchange. After every result except `answered` the program is not used again.
struct ExecReply {
  enum class Kind {
    answered,   ///< The outcome is the program's.
    not_taken,  ///< The program ended or misbehaved before it had read any of the record.
    failed,     ///< The program ended, or its answer was invalid.
    timed_out,
    stopped,
  };
  Kind kind = Kind::failed;
  Outcome outcome;
  std::string problem;  ///< human-readable; empty if answered
};

class ExecChild {
 public:
  /// Errors: those of ExecProcess::start.
  static Result<std::shared_ptr<ExecChild>> start(const config::ExecSettings& settings,
                                                  std::size_t longest_answer,
                                                  std::shared_ptr<ExecErrorLog> log);

  /// `frame`: made by exec_frame with this id. The frame is released once the program's pipe has all of it,
  /// because a record may be large and the work on it may take long. An exchange that ends earlier keeps the
  /// frame. `record`: see exec_answer().
  ExecReply exchange(std::string& frame, std::uint64_t id, const Content* record, Deadline deadline,
                     StopToken stop);
  /// Whether the program has answered at least once.
  bool proven() const { return answers_ > 0; }
  std::uint64_t answers() const { return answers_; }
  TimePoint started_at() const { return started_at_; }

  /// Ends the exchanges: closes the program's input and output, and begins to end the program; see
  /// ExecProcess::end.
  void end(Duration patience);

  ExecProcess& process() { return *process_; }
  ExecErrorStream& errors() { return errors_; }

  ExecChild(std::unique_ptr<ExecProcess> process, config::Framing framing, std::size_t longest_answer,
            std::shared_ptr<ExecErrorLog> log);

 private:
  enum class Progress { something, nothing, closed };
  enum class Wait { ready, timed_out, stopped };

  Progress write_some(std::string_view frame, std::size_t& written);
  Progress read_some();
  Wait wait(bool to_write, Deadline deadline, StopToken stop) const;
  ExecReply judge(bool written, std::uint64_t id, const Content* record);
  ExecReply broken(std::size_t written, StopToken stop);
  std::string how_it_broke(StopToken stop);
  ExecReply unasked();
  ExecReply timed_out(bool written) const;

  const std::unique_ptr<ExecProcess> process_;
  const config::Framing framing_;
  ExecErrorStream errors_;
  ExecFrameReader reader_;
  const TimePoint started_at_ = SteadyClock::now();
  std::uint64_t answers_ = 0;
};

}  // namespace laneway::handler
