// The sub-jobs that a drain does not finish. If another one of the same record ends in the drain, the record
// would run again for all of them, so such a sub-job is parked (parking.h). The others are given back with
// their records, when nothing runs any more.
//
// Ownership: the stage's; the lines outlive this. Threads: the loop's.
#pragma once

#include <utility>
#include <vector>

#include "handler/record_batch.h"
#include "lane/stage/leaving_room.h"
#include "lane/stage/line.h"

namespace laneway::lane {

class DrainRest {
 public:
  using Entry = std::pair<Line*, handler::Item>;

  /// The drain gives the record back. Takes it if it is a sub-job.
  void add(handler::Item& item, Line& line) {
    if (item.route() == handler::Route::work && item.progress && item.progress->gathering)
      entries_.emplace_back(&line, std::move(item));
  }
  /// Takes out sub-jobs of which others have ended, as many as there is room for.
  std::vector<Entry> take_of_begun(LeavingRoom room);
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace laneway::lane
