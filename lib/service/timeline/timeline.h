// The last hours of a service, for the page and GET /history: a sample each five seconds, and what happened.
//
// Bounded, and as large from the start on as it gets: 4,320 samples (6 hours) of 48 bytes and 400 events with
// texts of at most 300 bytes, 350 KiB in all. The oldest ones make room. Nothing grows with the number of
// lanes. The timeline lives as long as the process.
//
// Each sample and each event has a number that only grows. An event that is added to has a new number, and
// keeps its id, so that a reader who knows everything up to a number gets the rest (since()).
//
// Times are ms since 1970, and never go back from one sample to the next: when the wall clock is set back,
// what was kept is moved back too, so that distances stay right. Pure: times are given in. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/time.h"
#include "delivery/failure/breaker_state.h"

namespace laneway::service {

struct TimelineSample {
  std::uint64_t number = 0;  ///< given by the timeline
  std::int64_t at_ms = 0;
  std::int64_t lag = 0;              ///< of all lanes whose lag is known
  std::uint64_t dead_letters = 0;    ///< since the process started
  float rate = 0;                    ///< records done a second, of all lanes
  std::uint32_t rebalances = 0;      ///< since the process started
  bool ready = true;                 ///< at all looks since the sample before
  delivery::BreakerState breaker{};  ///< the worst since the sample before; never off
};
static_assert(sizeof(TimelineSample) <= 48, "the header says how large a sample is");

struct TimelineEvent {
  enum class Level : std::uint8_t { plain, good, warn, bad };
  static constexpr std::array level_names{"plain", "good", "warn", "bad"};

  std::uint64_t id = 0;
  std::uint64_t number = 0;
  std::int64_t since_ms = 0;  ///< of an event that was added to: when it began
  std::int64_t at_ms = 0;
  Level level = Level::plain;
  std::string text;  ///< for people, on one line
};

/// What a reader does not know yet, oldest first.
struct TimelineNews {
  std::int64_t started_ms = 0;  ///< another value than before: the process was restarted, so begin anew
  std::int64_t now_ms = 0;      ///< for readers whose clock differs
  bool complete = false;        ///< no sample has been dropped yet
  std::uint64_t last = 0;       ///< the highest number
  std::vector<TimelineSample> samples;
  std::vector<TimelineEvent> events;
};

class Timeline {
 public:
  static constexpr Duration interval = seconds(5);
  static constexpr std::size_t most_samples = 4320;
  static constexpr std::size_t most_events = 400;
  static constexpr std::size_t most_text = 300;

  explicit Timeline(std::int64_t started_ms) : started_ms_(started_ms) { samples_.reserve(most_samples); }

  /// Whether the time of the next sample has come.
  bool is_due(TimePoint now) const { return now >= next_; }
  /// Takes what a look found; keeps a sample when one is due.
  void look(TimelineSample found, TimePoint now, std::int64_t wall_ms);
  void add(TimelineEvent::Level level, const std::string& text, std::int64_t wall_ms);
  /// The newest event gets another text and time. Without an event: add().
  void amend(TimelineEvent::Level level, const std::string& text, std::int64_t wall_ms);

  TimelineNews since(std::uint64_t number, std::int64_t wall_ms) const;

 private:
  void set_back(std::int64_t by_ms);

  std::int64_t started_ms_;
  TimePoint next_{};
  std::uint64_t last_number_ = 0;
  std::int64_t last_ms_ = 0;             // of what was kept last
  bool ready_ = true;                    // since the last sample
  delivery::BreakerState breaker_{};     // likewise, the worst
  std::vector<TimelineSample> samples_;  // a ring
  std::size_t oldest_ = 0;               // where the ring begins
  std::deque<TimelineEvent> events_;
};

}  // namespace laneway::service
