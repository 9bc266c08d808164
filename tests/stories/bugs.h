// Bugs that are planted into the behaviour of a service: at its borders to the Kafka client (tapped_client.h)
// and to the work (play.h), and in the configuration that it is given. Each must be found by a story.
#pragma once

#include <cstdint>

namespace laneway::stories {

enum class Bug : std::uint8_t {
  none,
  commits_one_too_many,
  commits_what_was_taken,
  map_has_an_unfinished_record,
  commits_an_older_offset,
  skips_a_record,
  leaves_out_a_large_record,
  begins_at_the_end,
  runs_a_finished_record_again,
  forgets_its_commits,
  commits_are_refused_for_good,
  a_coordinator_is_lost,
  loses_a_dead_letter,
  writes_a_dead_letter_twice,
  loses_a_record_for_retry,
  writes_a_record_for_retry_twice,
  loses_a_parked_record,
  writes_a_parked_record_twice,
  letters_are_as_old_as_the_record,
  a_refused_letter_stops_its_lane,
  poison_is_an_outage,
  an_outage_is_poison,
  rejected_counts_as_done,
  hanging_takes_neighbours_along,
  consumes_its_dead_letters,
  a_foreign_map_counts,
  a_suspension_does_not_hold,
  a_resume_is_forgotten,
  a_suspension_is_not_handed_over,
  order_is_ignored,
  more_workers_than_allowed,
  more_memory_than_allowed,
  a_partition_is_not_read,
  a_drain_keeps_its_queue,
  a_drain_is_cut_short,
  is_never_ready_again,
  is_ready_while_it_stalls,
};
inline constexpr int bugs = static_cast<int>(Bug::is_ready_while_it_stalls) + 1;
const char* name_of(Bug bug);

}  // namespace laneway::stories
