// One row of the table of lanes, and the lines about the lane below the table.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace laneway::control {

/// Only what lasts: a lane must not change its place because its lag changes or its pool is full for a
/// moment.
enum class Trouble : std::uint8_t {
  none,
  pool_out,  // a pool, or a subscriber, is out for which records of the lane wait
  suspended,
  blocked,    // the commits are blocked, or the oldest record has failed and is old
  not_ready,  // a reason of the readiness is about the lane
  silent,
  stuck,
};

using Partition = std::pair<std::string, std::int64_t>;

struct Row {
  Partition partition;
  std::string name;
  std::string state;
  Trouble trouble = Trouble::none;  // the more, the further up
  std::int64_t lag = -1;
  std::string numbers;
  std::string detail;
  std::string failures;
};

/// Trouble first, by its kind; else by topic and partition, so that a lane keeps its place. `status`: the
/// JSON of /status; throws nlohmann::json::exception if it is none. Pure.
std::vector<Row> sorted_rows(const nlohmann::json& status);

struct PoolRow {
  std::string name;
  std::string state;    ///< of the breaker
  std::string numbers;  ///< of the columns of pool_columns: "31/64" are of its workers, "2/40" subscribers
  bool out = false;     ///< the breaker is not closed
  std::string trouble;  ///< in words; empty if there is none
  /// Its subscribers in trouble, the worst first, as far as the status has them: a line each.
  std::vector<std::string> subscribers;
};
inline constexpr const char* pool_columns =
    "breaker       running queued waiting retries oldest rec/s     out";
/// The named pools, those that are out first, then those in other trouble; empty without named pools.
std::vector<PoolRow> pool_rows(const nlohmann::json& status);

/// A number of the status; -1 if it is null or missing.
std::int64_t number_of(const nlohmann::json& object, const char* key);

}  // namespace laneway::control
