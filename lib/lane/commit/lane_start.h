// What a lane takes over from the last commit of its partition. Metadata that was written for another log is
// ignored with a warning (commit_metadata.h): the records above the offset run again.
#pragma once

#include "kafka/types.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/shared/lane_context.h"

namespace laneway::lane {

/// `start` without metadata of another log.
kafka::CommittedOffset own_start(const LaneContext& context, kafka::CommittedOffset start);

/// The ledger of a lane that begins at `start`, an own_start().
Ledger ledger_of(const kafka::CommittedOffset& start);
Suspects suspects_of(const kafka::CommittedOffset& start);
/// The completion map of the commit, or why it cannot be read.
DecodedMap map_after(const kafka::CommittedOffset& commit);

}  // namespace laneway::lane
