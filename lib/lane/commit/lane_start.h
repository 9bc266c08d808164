// What a lane takes over from the last commit of its partition. Metadata that was written for another log is
// ignored with a warning (commit_metadata.h): the records above the offset run again. If the id of the log
// could not be read, only the completion map is ignored: another log's map would leave out records. Nothing
// else in the metadata can, and a suspension must outlive a broker that does not answer.
#pragma once

#include "kafka/types.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/shared/lane_context.h"

namespace laneway::lane {

/// `start` without metadata of another log, and without a map whose log is not known.
kafka::CommittedOffset own_start(const LaneContext& context, kafka::CommittedOffset start);
/// Whether there is a completion map that is ignored because the id of the topic could not be read.
bool lacks_id(const kafka::CommittedOffset& start);

/// The ledger of a lane that begins at `start`, an own_start().
Ledger ledger_of(const kafka::CommittedOffset& start);
Suspects suspects_of(const kafka::CommittedOffset& start);
/// The completion map of the commit, or why it cannot be read.
DecodedMap map_after(const kafka::CommittedOffset& commit);

}  // namespace laneway::lane
