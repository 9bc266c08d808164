// The lane's position in its log: gaps, offsets that go back, corrupt batches.
//
// An offset below the one that the lane expects puts the position in doubt (position_judge.h): nothing is
// taken and nothing is committed until the doubt is resolved. After a corrupt batch the lane stays where it
// is until another replica has the batch intact, or an operator passes over it.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
// The source is given to each call, because it ends before the lane does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lane/ledger/ledger.h"
#include "lane/position/position_judge.h"
#include "lane/position/retention_watch.h"
#include "lane/source/partition_source.h"
#include "lane/source/source_errors.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class LogPosition {
 public:
  LogPosition(const LaneId& id, std::int64_t start, Ledger& ledger, SourceErrors& errors, LaneStats& stats)
      : id_(id), ledger_(ledger), errors_(errors), stats_(stats), next_(start) {}

  /// Where fetching goes on; -1 if not known.
  std::int64_t next() const { return next_; }
  /// The first and the last offset that were taken; -1 if none.
  std::int64_t first() const { return first_; }
  std::int64_t delivered() const { return delivered_; }
  bool in_doubt() const { return judge_.has_value(); }
  bool corrupt() const { return corrupt_at_.has_value(); }
  /// The topic does not exist, as the client has last heard.
  bool is_gone() const { return was_gone_; }
  /// Nothing can be taken: the position is in doubt, or a corrupt batch blocks it.
  bool blocked() const { return judge_ || (corrupt_at_ && !reads_again_); }
  /// Records of the log that are not finished, fetched or not; -1 if not known.
  std::int64_t lag(const kafka::LogBounds& log) const;
  /// Everything before an open transaction has been taken: the offset at which the transaction begins, or
  /// kafka::no_offset.
  std::int64_t waits_for_transaction(const kafka::LogBounds& log) const {
    return next_ >= 0 && next_ >= log.open_transaction ? log.open_transaction : kafka::no_offset;
  }

  /// Where a paused lane reads on. While the client fetches nothing, it does not notice that the topic is
  /// deleted and made anew, and the new one may have grown past the position: so the last record is read
  /// again.
  std::int64_t resumes_at(const kafka::LogBounds& log);
  /// Whether this record was taken before, and only its log had to be recognised.
  bool read_again(const kafka::Record& record, std::int64_t offset) {
    return recognition_ != Recognition::none && recognises(record, offset);
  }
  /// The log has no more records by which it could be recognised.
  void end_recognition();

  /// Whether the client delivers the expected offset of a log that need not be recognised. If not, ask
  /// read_again() and follows().
  bool expects(std::int64_t offset) const {
    return offset == next_ && !was_gone_ && recognition_ == Recognition::none;
  }
  /// Whether a delivery for which expects() is false is taken. `end`: the end of the log, and no record.
  bool follows(PartitionSource& source, std::int64_t offset, bool end, TimePoint now);
  void took(std::int64_t offset) {
    if (first_ < 0) first_ = offset;
    delivered_ = offset;
    next_ = offset + 1;
  }
  /// All records below `offset` have been delivered, or do not exist.
  void reached(std::int64_t offset) {
    next_ = offset;
    ledger_.reached(offset);
  }
  /// Remembers one of the last records taken, by which the log is recognised.
  void remember(const kafka::Record& record) { mark_ = mark_of(record); }

  void on_error(PartitionSource& source, TimePoint now);
  /// The topic does not exist.
  void on_gone(PartitionSource& source, TimePoint now);
  /// `what` goes on after "the batch of records at offset 7".
  void on_corrupt(PartitionSource& source, std::int64_t offset, const std::string& what, TimePoint now);
  /// The source has delivered something: the errors before are over.
  void answers();
  /// An operator gives up corrupt records, up to and including this offset.
  Skip pass_over_corrupt(PartitionSource& source, std::int64_t offset, const std::string& reason);

  enum class Found : std::uint8_t { nothing, same_log, another_log };
  /// While the position is in doubt: asks, reads answers and decides. After another_log, the ledger is a new
  /// one.
  Found tick(PartitionSource& source, TimePoint now);
  /// Repeats an error that lasts, and makes the client report the state again. Returns true if a corrupt
  /// batch is read again.
  bool tick_errors(PartitionSource& source, bool may_take, TimePoint now);
  /// If nothing is fetched, the client does not learn the log's bounds either, so the lane asks for them.
  void tick_bounds(PartitionSource& source, bool fetches, TimePoint now);
  /// For a paused lane, whose records that are not taken are only in the log.
  void leave_out_expired(const PartitionSource& source, std::int64_t log_start);
  /// Warns when retention is about to overtake the lane (retention_watch.h).
  void watch_retention(const kafka::LogBounds& log);

 private:
  /// The properties by which a record is recognised when it is read again.
  struct Mark {
    std::int64_t offset = kafka::no_offset;
    std::int64_t timestamp = 0;
    std::uint64_t key = 0;
    std::size_t bytes = 0;
    bool operator==(const Mark&) const = default;
  };
  /// Of the log, after a pause: the record of mark_ is read again; it was the same, so what follows up to the
  /// position is passed over; or it was another record, or none.
  enum class Recognition : std::uint8_t { none, awaited, passing, strange };
  static Mark mark_of(const kafka::Record& record);

  bool recognises(const kafka::Record& record, std::int64_t offset);
  void note_gap(const PartitionSource& source, std::int64_t next);
  void doubt(PartitionSource& source, std::int64_t seen, bool end, bool is_strange, TimePoint now);
  Found conclude(PartitionSource& source, PositionJudge::Verdict verdict, TimePoint now);
  Found compare_last(PartitionSource& source, TimePoint now);
  void go_on(PartitionSource& source, const char* why);
  void start_over(std::int64_t offset);
  void read_corrupt_again(PartitionSource& source);

  const LaneId& id_;
  Ledger& ledger_;
  SourceErrors& errors_;
  LaneStats& stats_;
  std::int64_t first_ = -1;
  std::int64_t delivered_ = -1;
  std::int64_t next_;
  std::optional<PositionJudge> judge_;  // while the position is in doubt
  RetentionWatch retention_;
  Mark mark_;                        // of one of the last records taken
  std::uint64_t answers_heard_ = 0;  // answers about the log's bounds
  TimePoint next_question_{};
  std::optional<TimePoint> comparing_until_;  // while the record of mark_ is read again
  std::optional<std::int64_t> corrupt_at_;    // the batch that begins there cannot be read
  bool was_gone_ = false;                     // the topic did not exist when the client asked last
  Recognition recognition_ = Recognition::none;
  bool reads_again_ = false;  // reads that batch again: another replica may have it intact
};

}  // namespace laneway::lane
