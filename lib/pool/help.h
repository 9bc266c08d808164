// Pools that help each other.
//
// A pool lends its free slots, and with threads its workers, to the pools that it helps. A job
// begins on its own pool's free slots first, then on those of the helpers in whose lists its pool comes
// earliest. A slot of a helper that becomes free runs jobs of the helped pools first, in the order of the
// list, then own ones.
//
// Priorities are shares. When an own job has waited longer than longest_wait, and from then on until the own
// queue is empty, own jobs go first for one twentieth of the time of the helper's slots (own_share.h), and on
// at most one of twenty slots at a time, rounded up. So the helped pools keep 19 of 20 parts of what they get
// from a helper, and the helper's own jobs get at least one part, however many jobs wait on either side; both
// at the granularity of one claim. Own claims that begin while no helped pool wants a slot do not count. If
// an own job that goes first waits for a permit, the pool keeps one free slot for it and lends the others;
// the time for which it keeps the slot counts as own. A claim that is found stuck does not count any more.
//
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
