// Pools that help each other.
//
// A pool lends its free slots, and with threads its workers, to the pools that it helps. A job
// begins on its own pool's free slots first, then on those of the helpers in whose lists its pool comes
// earliest. A slot of a helper that becomes free runs jobs of the helped pools first, in the order of the
// list, then own ones; but an own job that has waited longer than longest_wait goes first. So an own job
// begins at the latest on the first slot of its pool that becomes free after longest_wait has passed since
// its submission and the own jobs before it have begun: longest_wait, and at most the rest of one running
// claim. If such an own job waits for a permit, the pool keeps one free slot for it and lends the others.
// Admission, deadlines, permits and counts are those of the job's own pool. The helped pool's Work::run is
// then called on threads of the helper. No thread holds the locks of two pools. All pools of a group must
// live until each of them is joined, and one thread destroys them; close all, then join each. A pool's join
// also waits for the claims on the slots that it has lent or borrowed.
#pragma once

#include <vector>

namespace laneway::pool {

class Pool;

/// Idle workers of `helper` run jobs of the pools in `helped`, the first ones first. Call before the first
/// submission to any of these pools, which must have the same producer thread. Throws std::invalid_argument
/// for a pool that cannot be helped by this one.
void help(Pool& helper, const std::vector<Pool*>& helped);

}  // namespace laneway::pool
