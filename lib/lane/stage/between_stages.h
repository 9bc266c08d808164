// What becomes of a record between two pools (config::PoolSettings::then): the result of a pool is the value
// for the next one, several results are sub-jobs, and sub-jobs become one record again.
//
// A failed sub-job leaves as the record that was read, with the header `laneway-part: <id>`. A record that
// comes back with this header is split into this sub-job only, so the others do not run again. If the record
// is not split into this sub-job any more, a warning is logged.
//
// The thread of the lane's loop.
#pragma once

#include <memory>
#include <vector>

#include "delivery/dead_letter/dead_letter.h"
#include "handler/gathering.h"
#include "handler/record_batch.h"
#include "lane/state/record_life.h"

namespace laneway::lane {

using delivery::part_header;

/// Appends the records that the finished record `done` turns into. Returns RecordEvent::done if no work is
/// left: then `done` is unchanged. `gatherer`: the place of the next pool that gathers; -1 without one.
RecordEvent pass_on(handler::Item& done, int gatherer, handler::Gathering::Memory memory,
                    std::vector<handler::Item>& next);

/// The results of the finished record `done`, for a pool that gathers them.
std::shared_ptr<handler::Parts> take_results(handler::Item& done);

/// The record `whole` with the results of its sub-jobs as its value, for a pool that gathers.
handler::Item gathered(handler::Item whole, const std::vector<handler::Gathering::Result>& results);

/// The record as it was read.
const kafka::Record& origin_of(const handler::Item& item);

/// Makes the record what it was when it was read, because it leaves for a retry topic or the dead-letter
/// topic.
void restore_whole(handler::Item& item);

}  // namespace laneway::lane
