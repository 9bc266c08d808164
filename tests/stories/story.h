// A story: a configuration, a load and faults that overlap, drawn from a seed. Pure: the same seed gives the
// same story. part_of() and without() are what a failing story is cut down by (shrink.h).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "config/config.h"
#include "stories/bugs.h"

namespace laneway::stories {

/// What runs the records.
enum class Work : std::uint8_t { library, asynchronous, produce, transactional };
/// How the pools are laid out.
enum class Pools : std::uint8_t { none, by_key, each, stages };

/// The times are ms since the load began.
struct Fault {
  enum class Kind : std::uint8_t {
    broker_error,
    coordinator_moves,
    leader_moves,
    broker_stops,
    slow_broker,
    member_joins,
    member_leaves,
    member_is_abandoned,
    member_is_expelled,
    reload,
    suspend,
    suspended_moves,
    skip,
    outage_503,
    outage_500,
    hang,
    slow,
  };
  Kind kind = Kind::broker_error;
  int at = 0;
  int lasts = 0;
  std::uint32_t choice = 0;
};
inline constexpr int fault_kinds = static_cast<int>(Fault::Kind::slow) + 1;
const char* name_of(Fault::Kind kind);

struct Story {
  std::uint64_t seed = 0;
  /// "SEED", with "+BUG" for a planted bug and "/N" for each part that was left out: what named() reads.
  std::string name;
  // the cluster and the group
  int brokers = 1;
  int partitions = 2;
  int members = 1;
  std::uint32_t consumers = 1;
  bool cooperative = true;
  bool static_ids = false;
  bool pattern = false;
  // the configuration
  Work work = Work::library;
  config::Order order = config::Order::none;
  Pools pools = Pools::none;
  std::uint32_t workers = 4;
  std::uint32_t queue = 32;
  std::uint32_t max_incomplete = 10000;
  std::uint32_t attempts = 3;
  bool dead_letters = true;
  bool retry_topics = false;
  int park_ms = 0;          // lanes.park_after, with pools and retry topics; 0: nothing is parked
  bool gives_back = false;  // lanes.drain_queued
  int commit_ms = 100;
  int drain_ms = 3000;
  int memory_mib = 256;
  int stall_ms = 60000;  // so long without progress is not ready
  // the load
  int records = 200;   // of each partition
  bool burst = false;  // all at once; else over two seconds
  int keys = 20;
  int poison = 0;        // per mille
  int hanging = 0;       // per mille: these hang at their first attempt
  bool rejects = false;  // what becomes of poison: reject; else retry, each time
  int bytes = 20;
  std::string compression = "none";
  bool old = false;  // the records are a year old
  int work_ms = 1;
  std::vector<Fault> faults;

  Bug bug = Bug::none;

  static Story draw(std::uint64_t seed);
  /// A drawn story with what it needs so that it can show the bug.
  static Story with(Bug bug, std::uint64_t seed);
  static Story named(const std::string& name);
  /// In plain words, a line for each part.
  std::string text() const;
  /// The stories that are this one without one of its parts, those with the largest part first.
  std::vector<Story> smaller() const;
};

}  // namespace laneway::stories
