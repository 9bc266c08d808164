#include "telemetry/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>

#include "base/mutex.h"
#include "telemetry/journal_entry.h"
#include "telemetry/line.h"
#include "telemetry/line_writer.h"
#include "telemetry/repeat_limiter.h"

namespace laneway::telemetry {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  static_assert(static_cast<int>(Level::error) == SPDLOG_LEVEL_ERROR);
  return static_cast<spdlog::level::level_enum>(level);
}

/// Not asynchronous on purpose: logged lines are written when the process dies, and the writer bounds the
/// wait.
class Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Sink(Format format, int file_descriptor) : format_(format), writer_(file_descriptor) {
    const char* pattern =
        format == Format::json ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ",%v})" : "ts=%Y-%m-%dT%H:%M:%S.%eZ %v";
    formatter_ = std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc, "\n");
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (write(message)) report_lost();
  }
  void flush_() override {}

  bool write(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    return writer_.write({line.data(), line.size()});
  }

  void report_lost() {
    const auto lost = writer_.take_lost();
    if (lost == 0) return;
    const auto text = render_line(format_, Level::warn, "log lines lost",
                                  {{"lines", lost}, {"error", "standard error was not being read"}});
    write(spdlog::details::log_msg("", spdlog::level::warn, text));
  }

  const Format format_;
  LineWriter writer_;
};

struct Log {
  Log(Level level, Format line_format, int file_descriptor, const std::string& journal_path)
      : format(line_format),
        to_journal(!journal_path.empty()),
        logger("laneway", std::make_shared<Sink>(line_format, file_descriptor)),
        journal(journal_path) {
    logger.set_level(spdlog_level(level));
  }

  const Format format;
  const bool to_journal;
  spdlog::logger logger;
  Mutex journal_mutex;
  JournalSocket journal GUARDED_BY(journal_mutex);
  Mutex repeats_mutex;
  RepeatLimiter repeats GUARDED_BY(repeats_mutex);
};

/// Never destroyed at exit, so that destructors of other statics can still log.
std::unique_ptr<Log>& current() {
  static auto* log = new std::unique_ptr<Log>(std::make_unique<Log>(Level::info, Format::text, 2, ""));
  return *log;
}

void report_repeats(Log& log, bool everything) {
  std::vector<RepeatLimiter::Repeated> over;
  {
    MutexLock lock(log.repeats_mutex);
    over = log.repeats.take_over(SteadyClock::now(), everything);
  }
  for (const auto& repeated : over)
    telemetry::log(Level::info, "repeated", {{"times", repeated.left_out}, {"of", repeated.key}});
}

}  // namespace

void set_up_log(Level level, Format format, int file_descriptor, const std::string& journal) {
  current() = std::make_unique<Log>(level, format, file_descriptor, journal);
}

void set_log_level(Level level) { current()->logger.set_level(spdlog_level(level)); }

bool log_enabled(Level level) { return current()->logger.should_log(spdlog_level(level)); }

void log(Level level, std::string_view message, Fields fields) {
  if (!log_enabled(level)) return;
  Log& log = *current();
  if (log.to_journal) {
    const auto entry = journal_entry(level, message, fields);
    MutexLock lock(log.journal_mutex);
    if (log.journal.send(entry)) return;
  }
  const auto line = render_line(log.format, level, message, fields);
  log.logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

void log_repeating(Level level, std::string_view key, std::string_view message, Fields fields) {
  if (!log_enabled(level)) return;
  Log& log = *current();
  report_repeats(log, false);
  bool admitted;
  {
    MutexLock lock(log.repeats_mutex);
    admitted = log.repeats.admit(key, SteadyClock::now());
  }
  if (admitted) telemetry::log(level, message, fields);
}

void flush_log(bool everything) { report_repeats(*current(), everything); }

}  // namespace laneway::telemetry
