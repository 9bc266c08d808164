// Every metric's name, type, unit and help, in one place. Names are frozen once published; the prefix is
// laneway_. Also: how the partitions that share a series (series_cap.h) are aggregated.
#pragma once

#include <cstdint>
#include <string_view>

namespace laneway::telemetry {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// How the values of partitions that share a series are combined.
enum class Across : std::uint8_t {
  sum,
  max,            ///< as for an age: together they are as old as the oldest
  omitted,        ///< no series: a sum of offsets has no meaning
  no_partitions,  ///< the metric does not belong to partitions
};

struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view unit;    ///< of the value, for documentation; empty: a count of what the name says
  std::string_view labels;  ///< comma-separated
  Across across;            ///< has no default, so each row names it
  std::string_view help;
};

inline constexpr MetricInfo metric_table[] = {
    // Pool
    {"pool_jobs_total", MetricType::counter, "attempts", "topic,partition,outcome", Across::sum,
     "Attempts that ended, by outcome: success, retry, rejected_record, unavailable, timeout, panic."},
    {"pool_queued_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records that a pool accepted; a record counts again when it runs again or goes on to another pool."},
    {"pool_rejections_total", MetricType::counter, "submissions", "topic,partition", Across::sum,
     "Submissions that the full pool refused; the lane is then held."},
    {"pool_inflight", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that are running."},
    {"pool_queue_depth", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that are queued for a worker."},
    {"pool_queue_capacity", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that can be queued for a worker."},
    {"pool_workers", MetricType::gauge, "threads", "topic,partition", Across::sum,
     "Worker threads that exist; idle threads end."},
    {"pool_workers_active", MetricType::gauge, "threads", "topic,partition", Across::sum,
     "Worker threads that are running records."},
    {"pool_slots", MetricType::gauge, "slots", "topic,partition", Across::sum,
     "lanes.workers: the number of slots, which run on a thread (pool_workers) or asynchronously without a "
     "thread."},
    {"pool_slots_active", MetricType::gauge, "slots", "topic,partition", Across::sum,
     "Slots that are in use; a slot can have several quick records, or the records of one key."},
    {"pool_stuck", MetricType::gauge, "attempts", "topic,partition", Across::sum,
     "Attempts that are still running long after their timeout; workers are added in their place."},
    {"pool_duration_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from the start of an attempt to its answer."},
    {"pool_queue_wait_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from the submission of a record to the start of its attempt."},
    // Named pools, also with their pools for retries
    {"named_pool_inflight", MetricType::gauge, "records", "topic,partition,pool", Across::sum,
     "Records that are running, by the named pool that they are in."},
    {"named_pool_queue_depth", MetricType::gauge, "records", "topic,partition,pool", Across::sum,
     "Records that are queued in the named pool for a worker."},
    {"named_pool_waiting", MetricType::gauge, "records", "topic,partition,pool", Across::sum,
     "Records that have come to the named pool, and wait in their lane because the pool is full, its rate is "
     "used up, or its downstream is out; the records of other pools pass them."},
    {"named_pool_slots", MetricType::gauge, "slots", "topic,partition,pool", Across::sum,
     "pools.NAME.workers: the number of slots."},
    {"named_pool_slots_borrowed", MetricType::gauge, "slots", "topic,partition,pool", Across::sum,
     "Slots of other pools that run records of the named pool, because they help it."},
    {"named_pool_retries", MetricType::gauge, "records", "topic,partition,pool", Across::sum,
     "Failed records that are queued or running in the pool for retries of the named pool."},
    {"named_pool_oldest_queued_seconds", MetricType::gauge, "seconds", "topic,partition,pool", Across::max,
     "How long the oldest record that is queued in the named pool has waited."},
    {"named_pool_attempts_total", MetricType::counter, "attempts", "topic,partition,pool", Across::sum,
     "Attempts that ended, by the named pool."},
    {"named_pool_work_seconds_total", MetricType::counter, "seconds", "topic,partition,pool", Across::sum,
     "Time of these attempts, added up; divided by their number, the time of an attempt."},
    {"named_pool_helpers", MetricType::gauge, "pools", "pool", Across::no_partitions,
     "Pools whose idle workers run records of the named pool."},
    {"named_pool_subscribers", MetricType::gauge, "subscribers", "pool", Across::no_partitions,
     "Subscribers (texts by pools.NAME.each) that the process knows; 0 without `each`."},
    {"named_pool_subscribers_out", MetricType::gauge, "subscribers", "pool", Across::no_partitions,
     "Subscribers whose breaker is not closed: their records wait, and those of the others do not."},
    {"parked_records", MetricType::gauge, "records", "pool", Across::no_partitions,
     "Records of the named pool that wait in retry topics because this process parked them; the sum over all "
     "processes is what is parked. Records that are due are the lag of the retry topics."},
    {"parked_oldest_seconds", MetricType::gauge, "seconds", "pool", Across::no_partitions,
     "How long the oldest of these records has waited, since it first came; 0 without such records."},
    // Readiness
    {"not_ready_reasons", MetricType::gauge, "reasons", "reason", Across::no_partitions,
     "How many members, downstreams and lanes are not ready for the reason, as /readyz reports them; all are "
     "0 while the service is ready."},
    {"members", MetricType::gauge, "members", "assignment", Across::no_partitions,
     "Group members of the process, by their assignment: partitions; empty (the group has no partition for "
     "them); none (not received yet, or lost)."},
    {"without_broker_seconds", MetricType::gauge, "seconds", "", Across::no_partitions,
     "How long a member has had no connection to a broker, for the member without one for longest; 0 if each "
     "member has a connection."},
    {"process_start_timestamp_seconds", MetricType::gauge, "seconds", "", Across::no_partitions,
     "Time at which the process started, in seconds since 1970."},
    // Lanes
    {"lane_state", MetricType::gauge, "0 or 1", "topic,partition,state", Across::sum,
     "1 for the current state of the lane: assigned, running, held, paused, suspended, draining or lost. "
     "While the lane is lost, its lag and its offsets are those that were last known: no broker answered, "
     "and the member has had no assignment since."},
    {"lane_lag_records", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that are not finished: not fetched yet, queued, running, or waiting for their next attempt. "
     "Records that retention has deleted do not count."},
    {"lane_finished_beyond_commit_records", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that are finished, but cannot be committed yet, because an older record of their partition is "
     "not finished. Kafka's own tools count these records as lag."},
    {"lane_records_expired_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Offsets that retention deleted before the lane reached them; offsets that compaction had emptied "
     "count, too."},
    {"lane_expiry_near", MetricType::gauge, "0 or 1", "topic,partition", Across::sum,
     "1 while the next step of the log's start, if as large as the last step, would delete records that are "
     "not finished."},
    {"lane_oldest_incomplete_seconds", MetricType::gauge, "seconds", "topic,partition", Across::max,
     "How long the oldest record that is not finished has held back the commits: the time since all older "
     "records are finished, in a retry topic since the record was due; 0 if there is no such record, or none "
     "is due."},
    {"lane_committed_offset", MetricType::gauge, "offset", "topic,partition", Across::omitted,
     "The last offset that the broker acknowledged as committed."},
    {"lane_delivered_offset", MetricType::gauge, "offset", "topic,partition", Across::omitted,
     "The last offset that the lane has fetched."},
    {"lane_holds_total", MetricType::counter, "holds", "topic,partition", Across::sum,
     "Times that the lane stopped taking records for a reason of its own; a suspension does not count."},
    {"lane_held_seconds_total", MetricType::counter, "seconds", "topic,partition", Across::sum,
     "Time spent held, without the time in which only a suspension held the lane."},
    {"lane_pauses_total", MetricType::counter, "pauses", "topic,partition", Across::sum,
     "Times that a hold lasted so long that fetching was paused; a suspension does not count."},
    {"lane_paused_seconds_total", MetricType::counter, "seconds", "topic,partition", Across::sum,
     "Time spent paused, without the time in which only a suspension held the lane."},
    {"lane_resume_latency_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from a resume to the first record."},
    // Commits and rebalances
    {"commits_total", MetricType::counter, "commits", "result", Across::no_partitions,
     "Offset commits by result, as the broker answered."},
    {"commit_latency_seconds", MetricType::histogram, "seconds", "", Across::no_partitions,
     "Time from a commit request to its answer."},
    {"rebalances_total", MetricType::counter, "rebalances", "kind", Across::no_partitions,
     "Rebalances by kind: assign, revoke, lost."},
    {"client_throttled_seconds_total", MetricType::counter, "seconds", "", Across::no_partitions,
     "Time by which brokers delayed the requests of the members' clients because of quotas, added up over "
     "the brokers."},
    {"assignment_repairs_total", MetricType::counter, "repairs", "", Across::no_partitions,
     "Times that the client's assignment differed from the lanes and was repaired."},
    {"partition_silence_steps_total", MetricType::counter, "steps", "step", Across::no_partitions,
     "Steps taken for partitions that delivered nothing although their log had more records: seek, pause, "
     "rejoin, restart."},
    {"producer_renewals_total", MetricType::counter, "clients", "reason", Across::no_partitions,
     "Clients of producers (handler produce, retry and dead-letter topics) that were replaced, by reason: "
     "aborted (their transaction was aborted), unanswered (their transaction was committed, but a request "
     "before the commit was not answered), failed (they could not continue)."},
    {"drain_seconds", MetricType::histogram, "seconds", "", Across::no_partitions,
     "Time a lane took to drain."},
    {"abandoned_total", MetricType::counter, "records", "", Across::no_partitions,
     "Records that were running when their lane ended; each is logged and will be delivered again."},
    {"duplicates_suppressed_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records that were delivered again, and did not run again, because the completion map lists them as "
     "done."},
    {"retries_scheduled", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that are waiting for their next attempt."},
    // Failure
    {"dead_letters_total", MetricType::counter, "records", "topic,partition,reason", Across::sum,
     "Records that were given up and that the dead-letter topic has acknowledged."},
    {"retry_topics_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records that used up their attempts here and that their next retry topic has acknowledged."},
    {"parked_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records that left their lane for a retry topic, without an attempt, because their pool or subscriber "
     "is "
     "out or cannot keep up; a record counts each time."},
    {"breaker_state", MetricType::gauge, "0, 1 or 2", "downstream", Across::no_partitions,
     "0: closed, calls go through; 1: half open, a few calls probe the downstream; 2: open, its records "
     "wait. "
     "0 while no record waits."},
    {"downstream_pace", MetricType::gauge, "records/s", "downstream", Across::no_partitions,
     "Records that begin per second after the downstream has answered HTTP 429 (too many requests); 0: no "
     "limit."},
    {"concurrency_limit", MetricType::gauge, "calls", "downstream,pool", Across::no_partitions,
     "Calls that the downstream gets at the same time, if lanes.workers adapts itself; pool is empty unless "
     "pools are configured."},
    {"concurrency_in_flight", MetricType::gauge, "calls", "downstream,pool", Across::no_partitions,
     "Calls in flight of those that concurrency_limit allows."},
    {"concurrency_limit_changes_total", MetricType::counter, "changes", "downstream,pool,reason",
     Across::no_partitions,
     "Changes of concurrency_limit, by reason: success, latency, throttled, timeout, unavailable, breaker, "
     "probe, settings, persistent."},
    {"downstream_calls_total", MetricType::counter, "calls", "downstream,outcome", Across::no_partitions,
     "Calls that ended, by outcome: success (rejected records included), http_3xx, http_4xx, http_5xx, "
     "timeout, other_failure."},
    // Memory and throughput
    {"fetched_bytes_total", MetricType::counter, "bytes", "topic,partition", Across::sum,
     "Key and value bytes taken from Kafka."},
    {"processed_bytes_total", MetricType::counter, "bytes", "topic,partition", Across::sum,
     "Key and value bytes of records that are done, or that a retry or dead-letter topic has acknowledged."},
    {"memory_records_bytes", MetricType::gauge, "bytes", "topic,partition", Across::sum,
     "Memory of the records in the lanes: key, value, and 512 more bytes for each record."},
    // The process
    {"process_threads", MetricType::gauge, "threads", "", Across::no_partitions, "Threads of the process."},
    {"process_threads_expected", MetricType::gauge, "threads", "", Across::no_partitions,
     "The approximate maximum of the process's threads, with its partitions and all their workers running."},
    {"journal_lost_lines_total", MetricType::counter, "lines", "", Across::no_partitions,
     "Lines that could not be written to journal.file, or only in part; the attempts ran."},
    {"journal_reopen_failed", MetricType::gauge, "1", "", Across::no_partitions,
     "1 if journal.file could not be opened again, so the journal goes on in the file that it has, else 0."},
    {"trace_spans_total", MetricType::counter, "spans", "result", Across::no_partitions,
     "Spans by result: exported, dropped (too many were queued), failed (the collector did not accept "
     "them)."},
    {"client_certificate_expiry_timestamp_seconds", MetricType::gauge, "seconds", "file",
     Across::no_partitions,
     "Expiry time of the client certificate that the process read at the start, in seconds since 1970."},
    {"build_info", MetricType::gauge, "1", "version,librdkafka", Across::no_partitions,
     "Always 1; the labels have the running versions."},
    {"metrics_omitted_series", MetricType::gauge, "series", "metric", Across::no_partitions,
     "Series left out of this page because their metric has too many series."},
};

/// Metrics of partitions have the labels topic and partition first; counters and histograms can only be
/// summed.
consteval bool rows_say_how_partitions_are_aggregated() {
  for (const MetricInfo& info : metric_table) {
    const bool of_partitions = info.labels.starts_with("topic,partition");
    if (of_partitions == (info.across == Across::no_partitions)) return false;
    if (of_partitions && info.type != MetricType::gauge && info.across != Across::sum) return false;
  }
  return true;
}
static_assert(rows_say_how_partitions_are_aggregated(),
              "a metric of partitions says how they are aggregated, and no other metric does");

/// Looks the metric up while compiling.
consteval const MetricInfo& metric(std::string_view name) {
  for (const MetricInfo& info : metric_table)
    if (info.name == name) return info;
  throw "no metric of this name in metric_table";
}

}  // namespace laneway::telemetry
