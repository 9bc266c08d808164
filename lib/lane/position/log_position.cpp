#include "lane/position/log_position.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/key_hash.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration bounds_question = seconds(2);
constexpr Duration comparison_limit = seconds(10);

}  // namespace

std::int64_t LogPosition::resumes_at(const kafka::LogBounds& log) {
  const bool possible = mark_.offset >= std::max<std::int64_t>(log.start, 0) && next_ >= 0;
  recognition_ = possible ? Recognition::awaited : Recognition::none;
  return possible ? mark_.offset : next_;
}

bool LogPosition::recognises(const kafka::Record& record, std::int64_t offset) {
  if (recognition_ == Recognition::awaited && mark_of(record) == mark_) recognition_ = Recognition::passing;
  if (recognition_ == Recognition::passing && offset < next_) return true;
  end_recognition();
  return false;
}

void LogPosition::end_recognition() {
  if (recognition_ == Recognition::awaited) recognition_ = Recognition::strange;
  if (recognition_ == Recognition::passing) recognition_ = Recognition::none;
}

/// If the topic did not exist, the topic that exists now may be another one, and have grown past the expected
/// offset.
bool LogPosition::follows(PartitionSource& source, std::int64_t offset, bool end, TimePoint now) {
  const bool is_strange = std::exchange(recognition_, Recognition::none) == Recognition::strange;
  const bool was_gone = std::exchange(was_gone_, false);
  if (next_ >= 0 && (was_gone || is_strange || offset < next_)) {
    doubt(source, offset, end, is_strange, now);
    return false;
  }
  if (next_ >= 0 && offset != next_) note_gap(source, offset);
  return true;
}

/// Compaction and control records leave gaps as well; the log's start shows what retention has deleted.
void LogPosition::note_gap(const PartitionSource& source, std::int64_t next) {
  const auto start = source.log_bounds().start;
  const auto expired = std::min(start, next) - next_;
  if (start != kafka::no_offset && expired <= 0) return;
  if (start == kafka::no_offset && delivered_ >= 0) return;
  if (start != kafka::no_offset) stats_.expired.add(static_cast<std::uint64_t>(expired));
  telemetry::warn(
      "offset gap",
      {{"topic", id_.partition.topic},
       {"partition", id_.partition.partition},
       {"offset", next},
       {"expected", next_},
       {"missing", start == kafka::no_offset ? next - next_ : expired},
       {"hint", start == kafka::no_offset
                    ? "the records are no longer in the log: retention, compaction or control records"
                    : "retention deleted these records before they were processed"}});
}

void LogPosition::doubt(PartitionSource& source, std::int64_t seen, bool end, bool is_strange,
                        TimePoint now) {
  const bool is_new = !judge_;
  if (is_new) judge_.emplace(next_, mark_.offset >= 0, now);
  if (end) judge_->saw_end(seen);
  comparing_until_.reset();
  if (!is_new) return;
  answers_heard_ = source.log_answer().number;
  next_question_ = now;
  const auto what = is_strange ? "after a pause the log has another record at offset " +
                                     std::to_string(mark_.offset) + ", or none; the next offset is "
                    : seen < next_ ? "the client went back to offset " + std::to_string(seen) + " from "
                                   : "the topic was missing and exists again; the next offset is ";
  errors_.fail(
      what + std::to_string(next_) + ": asking the brokers whether the topic was recreated or truncated",
      next_, now);
}

LogPosition::Found LogPosition::tick(PartitionSource& source, TimePoint now) {
  auto found = Found::nothing;
  if (!judge_) return found;
  if (comparing_until_) found = compare_last(source, now);
  if (comparing_until_ && now < *comparing_until_) return found;
  comparing_until_.reset();
  const auto answer = source.log_answer();
  const bool is_new = answer.number != answers_heard_;
  answers_heard_ = answer.number;
  if (judge_ && is_new && answer.error.empty())
    found = conclude(source, judge_->hear(answer.bounds, now), now);
  if (!judge_ || comparing_until_ || now < next_question_) return found;
  next_question_ = now + bounds_question;
  source.ask_log(true);
  return found;
}

LogPosition::Found LogPosition::conclude(PartitionSource& source, PositionJudge::Verdict verdict,
                                         TimePoint now) {
  using Verdict = PositionJudge::Verdict;
  switch (verdict) {
    case Verdict::ask_again:
      break;
    case Verdict::compare:
      comparing_until_ = now + comparison_limit;
      source.seek(mark_.offset);
      break;
    case Verdict::stay:
      go_on(source, "the log is the same: a broker's answer was outdated");
      return Found::same_log;
    case Verdict::forward:
      note_gap(source, judge_->log_start());
      reached(judge_->log_start());
      go_on(source, "retention deleted the records before the log's start");
      return Found::same_log;
    case Verdict::start_over:
      start_over(judge_->log_start());
      go_on(source, "the topic was recreated or truncated");
      return Found::another_log;
  }
  return Found::nothing;
}

/// Reads the last record again, to recognise the log that it came from.
LogPosition::Found LogPosition::compare_last(PartitionSource& source, TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  const auto popped = source.pop(record, offset);
  if (popped == kafka::Pop::empty) return Found::nothing;
  comparing_until_.reset();
  const bool end = popped == kafka::Pop::end_of_partition;
  if (popped != kafka::Pop::record && !end) return Found::nothing;
  // The client went back again: the brokers are asked again.
  if (offset < mark_.offset) return Found::nothing;
  using Comparison = PositionJudge::Comparison;
  const bool there = !end && offset == mark_.offset;
  const auto comparison = mark_of(record) == mark_ ? Comparison::same : Comparison::other;
  return conclude(source, judge_->compared(there ? comparison : Comparison::impossible), now);
}

void LogPosition::go_on(PartitionSource& source, const char* why) {
  judge_.reset();
  comparing_until_.reset();
  source.seek(next_);
  errors_.clear();
  id_.log("position found", next_, why);
}

/// Running records belong to the old log and are dropped when they finish; clamping to the old offsets would
/// freeze the commits.
void LogPosition::start_over(std::int64_t offset) {
  telemetry::warn(
      "offsets went back",
      {{"topic", id_.partition.topic},
       {"partition", id_.partition.partition},
       {"offset", offset},
       {"expected", next_},
       {"log_end", judge_->log_end()},
       {"hint", "the topic was truncated or recreated: the lane starts over at the start of its log"}});
  ledger_ = Ledger(offset);
  first_ = -1;
  delivered_ = -1;
  next_ = offset;
  corrupt_at_.reset();
  mark_ = {};
}

LogPosition::Mark LogPosition::mark_of(const kafka::Record& record) {
  return {record.offset(), record.timestamp(), key_hash(record.raw_key().value_or(std::string_view())),
          record.size()};
}

void LogPosition::on_error(PartitionSource& source, TimePoint now) {
  errors_.fail(source.last_error(), next_, now);
}

void LogPosition::on_gone(PartitionSource& source, TimePoint now) {
  was_gone_ = true;
  on_error(source, now);
}

/// The lane stays where it is: what the client delivers after such a batch cannot be trusted either. A lane
/// that began without an offset is at the batch, or at the start of the log inside the batch.
void LogPosition::on_corrupt(PartitionSource& source, std::int64_t offset, const std::string& what,
                             TimePoint now) {
  if (next_ < 0) reached(std::max(offset, source.log_bounds().start));
  corrupt_at_ = offset;
  reads_again_ = false;
  errors_.fail(
      "the batch of records at offset " + std::to_string(offset) + ' ' + what + ": " + source.last_error(),
      next_, now);
}

/// Another replica may have the batch intact by now.
void LogPosition::read_corrupt_again(PartitionSource& source) {
  reads_again_ = true;
  source.seek(next_);
}

void LogPosition::answers() {
  if (!errors_.any() || blocked()) return;
  corrupt_at_.reset();
  errors_.clear();
  id_.log("partition can be read again", ledger_.committable());
}

Skip LogPosition::pass_over_corrupt(PartitionSource& source, std::int64_t offset, const std::string& reason) {
  if (offset < next_ || offset < *corrupt_at_) return Skip::not_waiting;
  if (const auto end = source.log_bounds().end; end != kafka::no_offset && offset >= end)
    return Skip::not_taken;
  telemetry::warn("corrupt records passed over", {{"topic", id_.partition.topic},
                                                  {"partition", id_.partition.partition},
                                                  {"offset", next_},
                                                  {"last", offset},
                                                  {"epoch", id_.epoch},
                                                  {"reason", reason}});
  reached(offset + 1);
  mark_ = {};  // to read that record again would mean to read the batch again
  read_corrupt_again(source);
  return Skip::passed_over;
}

/// The client reports a refusal once, and the end of a partition once: the seek makes it report again, so
/// that a partition without new records is also known to be readable.
bool LogPosition::tick_errors(PartitionSource& source, bool may_take, TimePoint now) {
  if (!errors_.repeat_due(now)) return false;
  if (corrupt_at_) {
    read_corrupt_again(source);
    return true;
  }
  if (may_take && next_ >= 0) source.seek(next_);
  errors_.fail(errors_.why(), next_, now);
  return false;
}

void LogPosition::tick_bounds(PartitionSource& source, bool fetches, TimePoint now) {
  if (fetches) next_question_ = now + bounds_question;
  if (fetches || judge_ || now < next_question_) return;
  next_question_ = now + bounds_question;
  source.ask_log(false);
}

void LogPosition::leave_out_expired(const PartitionSource& source, std::int64_t start) {
  if (next_ < 0 || start <= next_) return;
  note_gap(source, start);
  reached(start);
}

void LogPosition::watch_retention(const kafka::LogBounds& log) {
  const bool was_near = stats_.expiry_near.get();
  const auto offset = ledger_.committable();
  const bool is_near = retention_.observe(log, offset);
  stats_.expiry_near.set(is_near);
  if (is_near && !was_near)
    telemetry::warn("retention is about to delete records that are not processed",
                    {{"topic", id_.partition.topic},
                     {"partition", id_.partition.partition},
                     {"offset", offset},
                     {"log_start", log.start},
                     {"deleted_last", retention_.last_step()},
                     {"hint", "raise the topic's retention.ms or retention.bytes, or process faster"}});
}

/// Does not count records that retention has deleted, and those that the completion map lists as finished.
std::int64_t LogPosition::lag(const kafka::LogBounds& log) const {
  if (log.end < 0) return -1;
  const auto next = std::max({next_, ledger_.committable(), log.start, std::int64_t{0}});
  const auto restored = ledger_.restores() ? static_cast<std::int64_t>(ledger_.restored_from(next)) : 0;
  const auto to_come = std::max<std::int64_t>(0, log.end - next - restored);
  return to_come + static_cast<std::int64_t>(ledger_.incomplete());
}

}  // namespace laneway::lane
