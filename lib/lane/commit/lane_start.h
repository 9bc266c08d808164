// What a lane takes over from the last commit of its partition. Metadata that was written for another log is
// ignored with a warning (commit_metadata.h): the records above the offset run again.
#pragma once

#include "kafka/types.h"
#include "lane/ledger/ledger.h"
#include "lane/shared/lane_context.h"

namespace laneway::lane {

/// `start` without metadata of another log.
kafka::CommittedOffset own_start(const LaneContext& context, kafka::CommittedOffset start);

/// The ledger of a lane that begins at `start`, an own_start().
Ledger ledger_of(const kafka::CommittedOffset& start);

}  // namespace laneway::lane
