// What all lanes of a service share. Each loop has a copy of its own for its lanes, and only that loop
// changes the copy: the settings follow the service's, the rest is constant while the lanes live. The service
// owns everything that is pointed to, and it outlives the lanes.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "delivery/retry/retry_steps.h"
#include "handler/handler.h"
#include "lane/shared/adaptive_limit.h"
#include "lane/shared/crash_watch.h"
#include "lane/shared/downstream.h"
#include "lane/shared/journal.h"
#include "lane/shared/keyed_limits.h"
#include "lane/shared/memory_plan.h"
#include "lane/shared/parked_orders.h"
#include "lane/shared/parked_records.h"
#include "lane/shared/rate_limiter.h"
#include "lane/shared/router.h"
#include "lane/shared/suspensions.h"
#include "lane/state/lane_stats.h"
#include "tracing/tracer.h"

namespace laneway::pool {
class Permits;
}

namespace laneway::lane {

class Silences;

/// A stage of the lanes' work, as far as all lanes share it: each lane has a pool of its own for each stage.
/// Without named pools there is one stage, whose name is empty.
struct StageContext {
  config::PoolSettings settings;  ///< used by the loop's thread only
  handler::Handler* handler = nullptr;
  Downstream* downstream = nullptr;  ///< never null while there are lanes
  /// The rate of the stage, and the pace of its downstream. No limit if null; asked for new records by the
  /// intake, and not here, if it is LaneContext::rate.
  RateLimiter* rate = nullptr;
  pool::Permits* permits = nullptr;   ///< the limit of the process; null: each lane for itself
  AdaptiveLimit* adaptive = nullptr;  ///< the limit that owns `permits`; null if the limit is fixed
  KeyedLimits* each = nullptr;        ///< null if no text of the records has limits of its own
  int then = -1;                      ///< place of the next stage in LaneContext::stages; -1: none

  bool passes_on() const { return then >= 0; }
};

struct LaneContext {
  config::LaneSettings lanes;  ///< used by the loop's thread only, as are the next two
  config::Retry retry;
  config::LedgerSettings ledger;
  MemoryPlan memory;
  /// Writes failed records to their retry topic or to the dead-letter topic. If null, no record is
  /// dead-lettered.
  handler::Handler* forward = nullptr;
  const delivery::RetrySteps* retry_steps = nullptr;  ///< null if there are no retry topics
  RateLimiter* rate = nullptr;                        ///< the limit of all lanes together; no limit if null
  Journal* journal = nullptr;                         ///< may be null
  CarefulTurn* careful_turn = nullptr;  ///< of all lanes of the process; null: each lane has its own
  Suspensions* suspensions = nullptr;   ///< if null, no lane can be suspended
  tracing::Tracer* tracer = nullptr;    ///< null if there are no spans
  std::string cluster{};                ///< id of the cluster that is read; may be empty
  ProcessId process = 0;                ///< crash_watch.h
  Silences* silences = nullptr;         ///< if null, only the lane itself remembers its steps
  Duration silence_unit = seconds(30);  ///< silence_watch.h
  ProcessTotals* totals = nullptr;      ///< may be null
  /// Never empty while there are lanes, in an order in which `then` leads to a later one only.
  std::vector<StageContext> stages{};
  const Router* router = nullptr;  ///< to the stages; null: every record goes to the first one
  bool rebalancing = false;        ///< only the loop's thread: the client may deliver nothing
  /// Writes parked records to their retry topic (stage/parking.h). If null, all records stay in their lanes.
  handler::Handler* parking = nullptr;
  ParkedRecords* parked_records = nullptr;  ///< may be null
  ParkedOrders* parked_orders = nullptr;    ///< null: nothing can be ordered
};

}  // namespace laneway::lane
