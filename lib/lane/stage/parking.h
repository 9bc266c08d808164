// Decides which waiting records leave their lane (docs/pools.md, "When a pool cannot keep up"): a partition
// has one committed offset, so what waits for long in a lane stops what shares the lane with it.
//
// A record leaves that waits for a line which is out (its breaker is not closed), which has reached a limit
// of its own, or for which there is no worker, while another line works:
// - after lanes.park_after; at once if the line has been out for so long and another record waits to be its
//   next probe; and earlier if the line uses more than its share of the lane's room. It is parked in a retry
//   topic.
// - after each.longest_wait: it is given up, unless it waits for workers (shared/pool_outages.h).
// A record that was parked before is given up instead if an operator has ordered it (shared/parked_orders.h).
// If no other line works, nothing leaves: then the downstream of all is out, and the lane holds.
//
// Pure: the time is given in. Threads: the loop's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lane/ledger/ledger.h"
#include "lane/shared/lane_context.h"
#include "lane/stage/leaving_room.h"
#include "lane/stage/line.h"

namespace laneway::lane {

/// What the lines of a lane do that can go on while one of them waits.
class Neighbours {
 public:
  /// What the lines do without one of them.
  struct Others {
    TimePoint worked{};                ///< when the last record of them was answered; zero if none was
    TimePoint worked_and_idle{};       ///< the same of those lines for which no record waits
    TimePoint worked_here_and_idle{};  ///< the same, of records of this lane
    std::uint32_t not_out = 0;         ///< lines whose breaker is closed
  };

  void add(const Line& line);
  Others without(const Line& line) const;
  std::uint32_t with_backlog() const { return with_backlog_; }

 private:
  struct Latest {
    void add(const Line& line);
    TimePoint without(const Line& line) const;

    TimePoint (*worked_at)(const Line&);
    std::array<const Line*, 2> lines{};  // of two different lines, the later one first
  };
  static TimePoint anywhere(const Line& line);
  static TimePoint here(const Line& line) { return line.worked_at(); }

  Latest all_{anywhere};
  Latest idle_{anywhere};
  Latest idle_here_{here};
  std::uint32_t with_backlog_ = 0;
  std::uint32_t not_out_ = 0;
};

/// The places of the stages whose records go on while those of `stage` wait, itself among them: the stages
/// that neither lead to it nor follow it. Empty if no record of the stage has others beside it.
std::vector<std::size_t> stages_beside(const std::vector<StageContext>& stages, std::size_t stage);

/// Records of the stage have been written to a retry topic, to wait there: counts those that were taken.
void note_parked(const LaneContext& lane, const StageContext& stage, const handler::Finished& finished,
                 TimePoint now);

class Parking {
 public:
  Parking(const LaneContext& lane, const StageContext& stage, const Ledger& ledger)
      : lane_(lane), stage_(stage), ledger_(ledger) {}

  /// Takes the records out of the line that leave now, each with the route to its topic. `pool_full`: the
  /// pool or the stage after it takes no more records of the line.
  std::vector<handler::Item> take_leaving(Line& line, const Neighbours& neighbours, bool pool_full,
                                          LeavingRoom room, TimePoint now) const;
  /// If an operator gives up records such as this one, which was parked: the record is to leave for the
  /// dead-letter topic. Otherwise returns false.
  bool give_up(Line& line, handler::Item& item, TimePoint now) const;
  /// Takes the records out of the line for which an order changes something: those that are not due, and
  /// those that are given up.
  std::vector<handler::Item> take_ordered(Line& line, TimePoint now) const;

 private:
  /// What keeps the records of a line from beginning.
  enum class Kept : std::uint8_t { not_at_all, by_breaker, by_limit, by_pool };
  struct Situation {
    Kept kept;
    bool out() const { return kept == Kept::by_breaker; }
    bool out_for_long;      // and another record is the next probe
    Duration longest_wait;  // zero: nothing is given up
    bool old_ones_end;      // those that have been parked for too long
    Neighbours::Others others;
    std::uint64_t share_records;
    std::uint64_t share_bytes;
    TimePoint now;
  };

  using OutSince = std::optional<TimePoint>;
  static Kept kept(Line& line, const OutSince& out_since, bool pool_full, TimePoint now);
  Situation situation(Line& line, const Neighbours& neighbours, Kept kept, const OutSince& out_since,
                      TimePoint now) const;
  Duration longest_wait(Kept kept) const;
  bool old_ones_end(const Line& line, Kept kept, const OutSince& out_since, TimePoint now) const;
  bool is_given_up(const Line& line, const handler::Item& item, TimePoint now) const;
  Neighbours::Others others_of(const Line& line, const Neighbours& neighbours) const;
  static bool others_may(const handler::Item& item, const Neighbours::Others& others, bool fills);
  static bool others_could(const handler::Item& item, const Neighbours::Others& others);
  bool ends(const Line& line, const handler::Item& item, const Situation& at) const;
  bool leaves(const Line& line, const handler::Item& item, bool in_backlog, const Situation& at) const;

  const LaneContext& lane_;
  const StageContext& stage_;
  const Ledger& ledger_;
};

}  // namespace laneway::lane
