// What a story needs so that it can show a planted bug; the rest of it is drawn.
#include <algorithm>

#include "stories/story.h"

namespace laneway::stories {
namespace {

using Kind = Fault::Kind;

/// A drawn story in which the work is done by a handler of the program, without pools.
Story plain(std::uint64_t seed) {
  auto story = Story::draw(seed);
  story.work = Work::library;
  story.pools = Pools::none;
  story.park_ms = 0;
  story.dead_letters = true;
  story.records = std::max(story.records, 100);
  story.work_ms = std::min(story.work_ms, 1);
  story.hanging = 0;
  return story;
}

void add(Story& story, Kind kind, int at, int lasts) {
  story.faults.push_back({kind, at, lasts, static_cast<std::uint32_t>(story.seed)});
}

void only(Story& story, Kind kind, int at, int lasts) {
  story.faults.clear();
  add(story, kind, at, lasts);
}

/// Commits go on for a while.
void lasts(Story& story) {
  story.burst = false;
  story.commit_ms = 20;
  story.work_ms = 5;
  story.records = 200;
  story.faults.clear();
}

void poison(Story& story, bool rejects) {
  story.poison = 100;
  story.rejects = rejects;
  story.pattern = false;
}

/// One of two pools is out while the other works.
void park(Story& story) {
  story.work = Work::library;
  story.pools = Pools::by_key;
  story.order = config::Order::none;
  story.retry_topics = true;
  story.park_ms = 50;
  story.keys = 5;
  story.records = 200;
  story.pattern = story.burst = false;
  story.faults = {{Kind::outage_503, 300, 1400, 2}};
}

/// A queue that takes seconds, most of which waits when the fault comes.
void slow(Story& story, Kind kind, int at) {
  story.burst = true;
  story.order = config::Order::none;
  story.queue = 256;
  story.max_incomplete = 10000;
  story.members = 1;
  story.poison = 0;
  story.retry_topics = false;
  only(story, kind, at, 0);
}

/// Partitions go to another member while their records wait.
void hand_over(Story& story) {
  slow(story, Kind::member_joins, 300);
  story.partitions = 4;
  story.workers = 2;
  story.work_ms = 20;
  story.records = 300;
  story.queue = 4;
  story.gives_back = true;
  story.consumers = 1;
}

void drain(Story& story) {
  slow(story, Kind::member_leaves, 1000);
  story.partitions = 1;
  story.workers = 1;
  story.work_ms = 250;
  story.records = 80;
  story.drain_ms = 1000;
  story.gives_back = false;
}

void suspend(Story& story) {
  only(story, Kind::suspend, 300, 1400);
  story.burst = false;
  story.partitions = story.members = 1;
  story.consumers = 1;
}

void prepare_commits(Story& story, Bug bug) {
  if (bug == Bug::commits_an_older_offset || bug == Bug::commits_one_too_many) lasts(story);
  if (bug == Bug::begins_at_the_end || bug == Bug::a_foreign_map_counts) hand_over(story);
  if (bug == Bug::a_coordinator_is_lost) {
    lasts(story);
    story.brokers = 2;
    return only(story, Kind::coordinator_moves, 300, 0);
  }
  if (bug != Bug::commits_are_refused_for_good) return;
  story.partitions = 4;
  story.members = 1;
  story.commit_ms = 1000;
}

void prepare_failures(Story& story, Bug bug) {
  switch (bug) {
    case Bug::loses_a_record_for_retry:
    case Bug::writes_a_record_for_retry_twice:
      story.order = config::Order::none;
      story.retry_topics = true;
      return poison(story, false);
    case Bug::loses_a_parked_record:
    case Bug::writes_a_parked_record_twice:
      return park(story);
    case Bug::poison_is_an_outage:
      return poison(story, false);
    case Bug::loses_a_dead_letter:
    case Bug::writes_a_dead_letter_twice:
    case Bug::letters_are_as_old_as_the_record:
    case Bug::a_refused_letter_stops_its_lane:
    case Bug::consumes_its_dead_letters:
    case Bug::rejected_counts_as_done:
      return poison(story, true);
    case Bug::an_outage_is_poison:
      lasts(story);
      story.order = config::Order::none;
      story.poison = 0;
      story.records = 300;
      return add(story, Kind::outage_503, 500, 1200);
    default:
      return;
  }
}

void prepare_limits(Story& story, Bug bug) {
  switch (bug) {
    case Bug::leaves_out_a_large_record:
      story.bytes = 5000;
      return;
    case Bug::more_memory_than_allowed:
      slow(story, Kind::reload, 5000);
      story.faults.clear();
      story.partitions = 4;
      story.records = 300;
      story.bytes = 5000;
      story.work_ms = 5;
      story.memory_mib = 1;
      return;
    case Bug::is_ready_while_it_stalls:
      slow(story, Kind::hang, 300);
      story.faults.back().lasts = 500;
      story.work_ms = 20;
      story.stall_ms = 1000;
      return;
    default:
      return;
  }
}

void prepare_lanes(Story& story, Bug bug) {
  switch (bug) {
    case Bug::hanging_takes_neighbours_along:
      slow(story, Kind::member_leaves, 700);
      story.hanging = 50;
      story.drain_ms = 300;
      story.workers = 8;
      return;
    case Bug::a_suspension_does_not_hold:
    case Bug::a_resume_is_forgotten:
      return suspend(story);
    case Bug::a_suspension_is_not_handed_over:
      suspend(story);
      return only(story, Kind::suspended_moves, 300, 1400);
    case Bug::a_drain_keeps_its_queue:
    case Bug::a_drain_is_cut_short:
      return drain(story);
    case Bug::order_is_ignored:
    case Bug::more_workers_than_allowed:
      slow(story, Kind::reload, 5000);
      story.faults.clear();
      story.order = bug == Bug::order_is_ignored ? config::Order::key : config::Order::none;
      story.keys = 5;
      story.work_ms = 1;
      story.workers = bug == Bug::order_is_ignored ? 8 : 2;
      return;
    default:
      return;
  }
}

}  // namespace

Story Story::with(Bug bug, std::uint64_t seed) {
  auto story = plain(seed);
  story.bug = bug;
  story.name = std::to_string(seed) + '+' + std::to_string(static_cast<int>(bug));
  prepare_commits(story, bug);
  prepare_failures(story, bug);
  prepare_limits(story, bug);
  prepare_lanes(story, bug);
  return story;
}

}  // namespace laneway::stories
