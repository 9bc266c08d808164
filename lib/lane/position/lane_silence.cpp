#include "lane/position/lane_silence.h"

#include <array>
#include <utility>

#include "lane/position/silences.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// In words, by step.
constexpr std::array<const char*, silence_steps.size()> what_is_tried{
    "seek to the next offset", "pause and resume", "leave the group and join it again with new clients",
    "end the process, so that it is started again"};

}  // namespace

void LaneSilence::start(std::int64_t position, TimePoint now) {
  watch_.came(now);
  if (context_.silences == nullptr) return;
  if (const auto tried = context_.silences->tried(partition_, position)) watch_.has_tried(*tried);
}

TimePoint LaneSilence::tick(PartitionSource& source, bool wants, std::int64_t position, TimePoint now) {
  if (std::exchange(came_, false)) {
    const bool was_silent = watch_.silent() > Duration::zero();
    if (silent() > Duration::zero())
      telemetry::info(
          "partition delivers again",
          {{"topic", partition_.topic}, {"partition", partition_.partition}, {"silent_ms", watch_.silent()}});
    watch_.came(now);
    demand_.reset();
    const bool is_first = !std::exchange(noted_, true);
    if (context_.silences != nullptr && (is_first || was_silent)) context_.silences->came(partition_);
  }
  if (!wants) {
    watch_.interrupted();
    asking_ = false;
    return TimePoint::max();
  }
  if (asking_) hear(source.log_answer(), position, now);
  if (watch_.silent() > Duration::zero()) {
    const bool worth_restarting = context_.silences != nullptr && context_.silences->heard(partition_);
    if (const auto step = watch_.step(worth_restarting)) take(*step, source, position);
  }
  if (!asking_ && now >= watch_.next_question()) ask(source, now);
  return asking_ ? now + context_.silence_unit / 8 : watch_.next_question();
}

/// Another broker may know the leader if the leader that the client knows has not answered usefully.
void LaneSilence::ask(PartitionSource& source, TimePoint now) {
  heard_ = source.log_answer().number;
  asking_ = true;
  watch_.asked(now);
  source.ask_log(watch_.suspects());
}

void LaneSilence::hear(const kafka::LogAnswer& answer, std::int64_t position, TimePoint now) {
  if (answer.number == heard_) return;
  asking_ = false;
  if (!answer.error.empty()) return watch_.interrupted();
  log_end_ = answer.bounds.end;
  // A lane that begins where the client found its position has not learnt the position yet.
  watch_.hear(log_end_ > (position < 0 ? answer.bounds.start : position), now);
}

void LaneSilence::take(SilenceStep step, PartitionSource& source, std::int64_t position) {
  report(step, position);
  if (context_.silences != nullptr) context_.silences->tries(partition_, position, step);
  if (step == SilenceStep::rejoin || step == SilenceStep::restart) {
    const auto seconds_silent = std::to_string(duration_cast<seconds>(watch_.silent()).count());
    demand_ = {step, "partition " + partition_.text() + " has delivered nothing for " + seconds_silent +
                         " s at offset " + std::to_string(position) + ", although its log ends at " +
                         std::to_string(log_end_) + " and its leader answers; a seek, a pause and new " +
                         "clients did not help"};
    return;
  }
  if (step == SilenceStep::seek && position >= 0) return source.seek(position);
  source.pause();
  source.resume(position);
}

void LaneSilence::report(SilenceStep step, std::int64_t position) const {
  const auto next = watch_.due() - watch_.silent();
  telemetry::warn("partition silent", {{"topic", partition_.topic},
                                       {"partition", partition_.partition},
                                       {"offset", position},
                                       {"log_end", log_end_},
                                       {"silent_ms", watch_.silent()},
                                       {"step", silence_steps[static_cast<std::size_t>(step)]},
                                       {"tries", what_is_tried[static_cast<std::size_t>(step)]},
                                       {"next_in_ms", next}});
}

}  // namespace laneway::lane
