// The settings of named pools (bulkheads, stages, priorities), of the routing of records to them, and of
// limits that adapt themselves, as plain data. docs/pools.md describes them for users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/handler_settings.h"
#include "config/limits.h"

namespace laneway::config {

/// How a number of workers adapts itself to its downstream; `none`: it is fixed.
enum class AdaptiveAlgorithm : std::uint8_t { none, aimd, vegas, gradient };

struct AdaptiveLimitSettings {
  AdaptiveAlgorithm algorithm = AdaptiveAlgorithm::none;
  std::uint32_t min = 1;  ///< the maximum is `workers`

  bool operator==(const AdaptiveLimitSettings&) const = default;
  bool enabled() const { return algorithm != AdaptiveAlgorithm::none; }
};

/// Where the text that decides about a record is found.
struct Selector {
  enum class Kind : std::uint8_t {
    none,
    topic,
    key,
    header,       ///< `name`: of the header
    value,        ///< `name`: a JSON pointer (RFC 6901) into the value
    part,         ///< the id of the sub-job (handler/outcome.h)
    round_robin,  ///< no text decides: the pools of a RouteSettings are taken in turn
  };
  Kind kind = Kind::none;
  std::string name;

  bool enabled() const { return kind != Kind::none; }
  bool operator==(const Selector&) const = default;
};

/// Which pool a record goes to first.
struct RouteSettings {
  struct Row {
    std::string text;  ///< the whole text, or its beginning if `prefix`; empty if the pools are taken in turn
    bool prefix = false;
    std::string pool;

    bool operator==(const Row&) const = default;
  };
  Selector by;
  std::vector<Row> rows;  ///< the first row that matches decides
  std::string otherwise;  ///< the pool of every other record
};

/// Limits of their own for the records of each subscriber, tenant, …: of all records with the same text.
struct Each {
  Selector by;
  Rate rate;
  std::uint32_t workers = 0;  ///< the most records of one text that run at once in the process; 0: no limit
  /// A record that cannot begin for so long, because its subscriber is out or its rate is used up, is given
  /// up: it goes to its retry topic or to the dead-letter topic. 0: never.
  Duration longest_wait{};
};

struct PoolSettings {
  std::string name;
  std::uint32_t workers = 8;  ///< of one lane; with `adaptive`, the most in the process
  AdaptiveLimitSettings adaptive;
  std::uint32_t queue = 256;  ///< of one lane
  std::uint32_t total = 0;    ///< the most records that run at once in the process; 0: no limit
  std::uint32_t retry_workers =
      0;  ///< above 0: failed records run in a pool of their own, with so many workers
  std::vector<std::string>
      helps;  ///< pools whose records idle workers of this pool run, the first ones first
  /// With `helps`: records that have waited so long get a share of the workers' time before those
  /// (pool/help.h).
  Duration longest_wait = seconds(5);
  std::optional<HandlerSettings> handler;  ///< nullopt: the service's handler
  BreakerSettings breaker;
  Rate rate;  ///< of the pool, in the process
  Each each;
  std::string then;     ///< the pool that gets the results of this one; empty: the record is finished here
  bool gather = false;  ///< gets one record with the results of all sub-jobs of a record

  /// False for the only pool of a service without named pools, which users know as the lane's workers.
  bool named() const { return !name.empty(); }
  /// The beginning of the names of its settings: "pools.critical."; empty for the unnamed pool, whose handler
  /// is the service's.
  std::string scope() const { return named() ? "pools." + name + "." : ""; }
  /// Whether its handler's answers are results that go to another pool.
  bool passes_on() const { return !then.empty(); }
};

}  // namespace laneway::config
