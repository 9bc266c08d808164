// What all lanes of a service share. Each loop has a copy of its own for its lanes, which it alone changes:
// the settings follow the service's, the rest is constant while the lanes live. What is pointed to is the
// service's and outlives the lanes.
#pragma once

#include <string>

#include "config/config.h"
#include "delivery/retry/retry_stages.h"
#include "handler/handler.h"
#include "lane/member/memory_plan.h"
#include "lane/shared/crash_watch.h"
#include "lane/shared/downstream.h"
#include "lane/shared/hand_pauses.h"
#include "lane/shared/journal.h"
#include "lane/shared/rate_limiter.h"
#include "lane/shared/silences.h"
#include "tracing/tracer.h"

namespace laneway::lane {

struct LaneContext {
  config::Lanes lanes;  ///< of the loop's thread, as are the next two
  config::Retry retry;
  config::Ledger ledger;
  MemoryPlan memory;
  handler::Handler* handler = nullptr;
  /// Writes what fails to its retry topic or to the dead-letter topic; null: nothing is given up.
  handler::Handler* forward = nullptr;
  const delivery::RetryStages* retry_stages = nullptr;  ///< null: there are no retry topics
  Downstream* downstream = nullptr;                     ///< never null while there are lanes
  RateLimiter* rate = nullptr;                          ///< of all lanes together; null, or not limited: none
  Journal* journal = nullptr;                           ///< may be null
  CarefulTurn* careful_turn = nullptr;      ///< of all lanes of the process; null: a lane of its own
  const HandPauses* hand_pauses = nullptr;  ///< null: nobody can pause a lane by hand
  tracing::Tracer* tracer = nullptr;        ///< null: there are no spans
  std::string cluster{};                    ///< the id of the cluster whose records come; may be empty
  ProcessId process = 0;                    ///< crash_watch.h
  Silences* silences = nullptr;             ///< null: nothing is known but by the lanes
  Duration silence_unit = seconds(30);      ///< silence_watch.h
  bool rebalancing = false;                 ///< of the loop's thread: the client may deliver nothing
};

}  // namespace laneway::lane
