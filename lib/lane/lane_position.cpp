// Where a lane is in its log: gaps, offsets that go back, corrupt batches, retention that comes near.
#include <algorithm>

#include "base/key_hash.h"
#include "lane/lane.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration bounds_question = seconds(2);
constexpr Duration comparison_limit = seconds(10);

}  // namespace

/// Whether what the client delivers is taken, at an offset that is not the expected one, or after the topic
/// did not exist: the one that exists now may be another, and have grown past the expected offset.
bool Lane::follows(std::int64_t offset, bool end, TimePoint now) {
  const bool was_gone = std::exchange(was_gone_, false);
  if (next_offset_ >= 0 && (was_gone || offset < next_offset_)) {
    doubt(offset, end, now);
    return false;
  }
  if (next_offset_ >= 0) note_gap(offset);
  return true;
}

/// Compaction and control records leave gaps as well; retention is what the log's start tells.
void Lane::note_gap(std::int64_t next) {
  const auto start = source_->log_bounds().start;
  const auto expired = std::min(start, next) - next_offset_;
  if (start != kafka::no_offset && expired <= 0) return;
  if (start == kafka::no_offset && delivered_ >= 0) return;
  if (start != kafka::no_offset) stats_->expired.add(static_cast<std::uint64_t>(expired));
  telemetry::warn("offset gap",
                  {{"topic", id_.partition.topic},
                   {"partition", id_.partition.partition},
                   {"offset", next},
                   {"expected", next_offset_},
                   {"missing", start == kafka::no_offset ? next - next_offset_ : expired},
                   {"hint", start == kafka::no_offset
                                ? "not in the log any more: retention, compaction or control records"
                                : "retention deleted these records before they were processed"}});
}

void Lane::doubt(std::int64_t seen, bool end, TimePoint now) {
  const bool is_new = !judge_.in_doubt();
  judge_.doubt(next_offset_, end ? seen : kafka::no_offset, mark_.offset >= 0, now);
  comparing_until_.reset();
  dry_since_.reset();
  if (!is_new) return;
  answers_heard_ = source_->log_answer().number;
  next_log_question_ = now;
  const auto what = seen < next_offset_ ? "the client went back to offset " + std::to_string(seen) + " from "
                                        : "the topic did not exist, and does again; the next offset is ";
  fail_source(
      what + std::to_string(next_offset_) + ": whether the topic was recreated or truncated is being asked",
      now);
}

void Lane::tick_position(TimePoint now) {
  if (!judge_.in_doubt() || source_ == nullptr) return;
  if (comparing_until_) compare_last(now);
  if (comparing_until_ && now < *comparing_until_) return;
  comparing_until_.reset();
  const auto answer = source_->log_answer();
  const bool is_new = answer.number != answers_heard_;
  answers_heard_ = answer.number;
  if (judge_.in_doubt() && is_new && answer.error.empty()) conclude(judge_.hear(answer.bounds, now), now);
  if (!judge_.in_doubt() || comparing_until_ || now < next_log_question_) return;
  next_log_question_ = now + bounds_question;
  source_->ask_log(true);
}

void Lane::conclude(PositionJudge::Verdict verdict, TimePoint now) {
  using Verdict = PositionJudge::Verdict;
  switch (verdict) {
    case Verdict::ask_again:
      return;
    case Verdict::compare:
      comparing_until_ = now + comparison_limit;
      source_->seek(mark_.offset);
      return;
    case Verdict::stay:
      return go_on("the offset is in the same log: a broker's answer was outdated", now);
    case Verdict::forward:
      note_gap(judge_.log_start());
      next_offset_ = judge_.log_start();
      ledger_.reached(next_offset_);
      return go_on("retention deleted what is before the log's start", now);
    case Verdict::start_over:
      start_over(judge_.log_start());
      return go_on("the topic was recreated or truncated", now);
  }
}

/// Reads the last record again, to tell the log that it came from.
void Lane::compare_last(TimePoint now) {
  kafka::Record record;
  std::int64_t offset = 0;
  const auto popped = source_->pop(record, offset);
  if (popped == kafka::Pop::empty) return;
  comparing_until_.reset();
  const bool end = popped == kafka::Pop::end_of_partition;
  if (popped != kafka::Pop::record && !end) return;
  if (offset < mark_.offset) return;  // the client went back again: the brokers are asked again
  using Comparison = PositionJudge::Comparison;
  const bool there = !end && offset == mark_.offset;
  const auto comparison = mark_of(record) == mark_ ? Comparison::same : Comparison::other;
  conclude(judge_.compared(there ? comparison : Comparison::impossible), now);
}

void Lane::go_on(const char* why, TimePoint now) {
  judge_.end();
  comparing_until_.reset();
  source_->seek(next_offset_);
  source_error_.clear();
  update_holds(now);
  telemetry::info("position found", {{"topic", id_.partition.topic},
                                     {"partition", id_.partition.partition},
                                     {"epoch", id_.epoch},
                                     {"offset", next_offset_},
                                     {"why", why}});
}

/// What is at work belongs to a log of the past and is dropped when it finishes; clamping to the old offsets
/// would freeze the commits.
void Lane::start_over(std::int64_t offset) {
  telemetry::warn("offsets went back",
                  {{"topic", id_.partition.topic},
                   {"partition", id_.partition.partition},
                   {"offset", offset},
                   {"expected", next_offset_},
                   {"log_end", judge_.log_end()},
                   {"hint", "topic truncated or recreated: starting over from its start"}});
  ledger_ = Ledger(offset);
  next_sequence_ = 0;
  workload_.start_over();
  attempts_.start_over();
  oldest_.start_over();
  commits_.start_over();
  first_ = -1;
  delivered_ = -1;
  next_offset_ = offset;
  corrupt_at_.reset();
  mark_ = {};
  if (gate_.careful()) gate_.relax("the offsets went back");
}

Lane::Mark Lane::mark_of(const kafka::Record& record) {
  return {record.offset(), record.timestamp(), key_hash(record.key().value_or(std::string_view())),
          record.size()};
}

/// The lane stays where it is: what the client delivers after such a batch is not to be believed either.
void Lane::on_corrupt(std::int64_t offset, TimePoint now) {
  corrupt_at_ = offset;
  reads_again_ = false;
  dry_since_.reset();
  fail_source(
      "the batch of records at offset " + std::to_string(offset) + " is corrupt: " + source_->last_error(),
      now);
}

/// The batch may be whole at another replica meanwhile.
void Lane::read_corrupt_again(TimePoint now) {
  reads_again_ = true;
  source_->seek(next_offset_);
  update_holds(now);
}

/// An operator gives up what is corrupt, up to this offset and with it.
Skip Lane::pass_over_corrupt(std::int64_t offset, const std::string& reason, TimePoint now) {
  if (offset < next_offset_ || offset < *corrupt_at_) return Skip::not_waiting;
  if (const auto end = source_->log_bounds().end; end != kafka::no_offset && offset >= end)
    return Skip::not_taken;
  telemetry::warn("corrupt records passed over", {{"topic", id_.partition.topic},
                                                  {"partition", id_.partition.partition},
                                                  {"offset", next_offset_},
                                                  {"last", offset},
                                                  {"epoch", id_.epoch},
                                                  {"reason", reason}});
  next_offset_ = offset + 1;
  ledger_.reached(next_offset_);
  read_corrupt_again(now);
  return Skip::passed_over;
}

/// Where nothing is fetched, nothing is heard of the log either.
void Lane::tick_log(TimePoint now) {
  if (source_ == nullptr) return;
  const bool fetches = state_.state() != State::held && state_.state() != State::paused;
  if (fetches) next_log_question_ = now + bounds_question;
  if (!fetches && !judge_.in_doubt() && now >= next_log_question_) {
    next_log_question_ = now + bounds_question;
    source_->ask_log(false);
  }
  const auto log = source_->log_bounds();
  // What a paused lane has not taken is only in the log; a held one has more in the client's buffer.
  if (state_.state() == State::paused && next_offset_ >= 0 && log.start > next_offset_) {
    note_gap(log.start);
    next_offset_ = log.start;
    ledger_.reached(next_offset_);
  }
  watch_retention(log);
  stats_->lag.set(lag(log));
}

void Lane::watch_retention(const kafka::LogBounds& log) {
  const bool was_near = retention_.in_danger();
  retention_.observe(log, ledger_.committable());
  const bool near = retention_.in_danger();
  stats_->expiry_near.set(near);
  if (near && !was_near)
    telemetry::warn("retention is about to delete records that are not processed",
                    {{"topic", id_.partition.topic},
                     {"partition", id_.partition.partition},
                     {"offset", ledger_.committable()},
                     {"log_start", log.start},
                     {"deleted_last", retention_.last_step()},
                     {"hint", "raise the topic's retention.ms or retention.bytes, or process faster"}});
}

/// Without the records that retention has deleted.
std::int64_t Lane::lag(const kafka::LogBounds& log) const {
  if (log.end < 0) return -1;
  const auto base = ledger_.committable();
  const auto taken = ledger_.incomplete() == 0 ? 0 : delivered_ + 1 - base;
  const auto next = std::max({next_offset_, base, log.start, std::int64_t{0}});
  return std::max<std::int64_t>(0, log.end - next) + taken;
}

}  // namespace laneway::lane
