// What a lane takes over from the last commit of its partition. What was stored for another log is ignored
// with a warning (stored_commit.h): the records above the offset run again. If the id of the log could not be
// read, only the completion map is ignored: another log's map would leave out records. Nothing else that is
// stored can, and a suspension must outlive a broker that does not answer.
#pragma once

#include "lane/commit/stored_commit.h"
#include "lane/ledger/ledger.h"
#include "lane/shared/lane_context.h"

namespace laneway::lane {

/// `start` without what was stored for another log, and without a map whose log is not known.
StoredCommit own_start(const LaneContext& context, StoredCommit start);

/// The ledger of a lane that begins at `start`, an own_start().
Ledger ledger_of(const StoredCommit& start);

}  // namespace laneway::lane
