// Every metric's name, type, unit and help, in one place. Names are frozen once published; the prefix is
// laneway_. Beside them: how the partitions that share a series (series_cap.h) are aggregated.
#pragma once

#include <cstdint>
#include <string_view>

namespace laneway::telemetry {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// What the partitions that share a series have together.
enum class Across : std::uint8_t {
  sum,
  max,            ///< as for an age: the oldest of all is as old as the oldest
  omitted,        ///< nothing: a sum of offsets says nothing
  no_partitions,  ///< the metric is not one of partitions
};

struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view unit;    ///< of the value, for documentation; empty: a count of what the name says
  std::string_view labels;  ///< comma-separated
  Across across;            ///< has no default: each row says it
  std::string_view help;
};

inline constexpr MetricInfo metric_table[] = {
    // Pool
    {"pool_jobs_total", MetricType::counter, "attempts", "topic,partition,outcome", Across::sum,
     "Attempts that ended, by outcome: success, retry, rejected_record, unavailable, timeout, panic."},
    {"pool_rejections_total", MetricType::counter, "submissions", "topic,partition", Across::sum,
     "Submissions that the full pool refused; the lane then holds."},
    {"pool_inflight", MetricType::gauge, "records", "topic,partition", Across::sum, "Records at work."},
    {"pool_queue_depth", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records waiting for a worker."},
    {"pool_queue_capacity", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records that may wait for a worker."},
    {"pool_workers", MetricType::gauge, "threads", "topic,partition", Across::sum,
     "Worker threads that exist; idle ones end."},
    {"pool_workers_active", MetricType::gauge, "threads", "topic,partition", Across::sum,
     "Worker threads at work."},
    {"pool_slots", MetricType::gauge, "slots", "topic,partition", Across::sum,
     "lanes.workers: what may be at work at once, on a thread (pool_workers) or asynchronously without one."},
    {"pool_slots_active", MetricType::gauge, "slots", "topic,partition", Across::sum,
     "Slots at work; one may hold several quick records, or those of one key."},
    {"pool_stuck", MetricType::gauge, "attempts", "topic,partition", Across::sum,
     "Attempts that go on though their time is long over; workers are added in their place."},
    {"pool_duration_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from the start of an attempt to its answer."},
    {"pool_queue_wait_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from submission to the start of work."},
    // Lanes
    {"lane_state", MetricType::gauge, "0 or 1", "topic,partition,state", Across::sum,
     "1 for the state that the lane is in."},
    {"lane_lag_records", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Offsets between the oldest incomplete record and the end of the partition, without those that "
     "retention "
     "has deleted."},
    {"lane_records_expired_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Offsets that retention deleted before the lane came to them; also those that compaction had emptied."},
    {"lane_expiry_near", MetricType::gauge, "0 or 1", "topic,partition", Across::sum,
     "1 while the next step of the log's start, as long as the last one, would delete records that are not "
     "done."},
    {"lane_oldest_incomplete_seconds", MetricType::gauge, "seconds", "topic,partition", Across::max,
     "Age of the oldest incomplete record since it was taken, in a retry topic since it was due; 0 when "
     "there "
     "is none, or none is due."},
    {"lane_committed_offset", MetricType::gauge, "offset", "topic,partition", Across::omitted,
     "The last offset that the broker acknowledged as committed."},
    {"lane_delivered_offset", MetricType::gauge, "offset", "topic,partition", Across::omitted,
     "The last offset taken into the lane."},
    {"lane_holds_total", MetricType::counter, "holds", "topic,partition", Across::sum,
     "Times that the lane stopped taking records."},
    {"lane_held_seconds_total", MetricType::counter, "seconds", "topic,partition", Across::sum,
     "Time spent held."},
    {"lane_pauses_total", MetricType::counter, "pauses", "topic,partition", Across::sum,
     "Times that a hold became a pause of fetching."},
    {"lane_paused_seconds_total", MetricType::counter, "seconds", "topic,partition", Across::sum,
     "Time spent paused."},
    {"lane_resume_latency_seconds", MetricType::histogram, "seconds", "topic,partition", Across::sum,
     "Time from a resume to the first record."},
    // Commits and rebalances
    {"commits_total", MetricType::counter, "commits", "result", Across::no_partitions,
     "Offset commits by result, as the broker answered."},
    {"commit_latency_seconds", MetricType::histogram, "seconds", "", Across::no_partitions,
     "Time from a commit request to its answer."},
    {"rebalances_total", MetricType::counter, "rebalances", "kind", Across::no_partitions,
     "Rebalances by kind: assign, revoke, lost."},
    {"assignment_repairs_total", MetricType::counter, "repairs", "", Across::no_partitions,
     "The client's assignment differed from the lanes and was made anew."},
    {"partition_silence_steps_total", MetricType::counter, "steps", "step", Across::no_partitions,
     "What was tried for partitions that delivered nothing though their log went on: seek, pause, rejoin, "
     "restart."},
    {"producer_renewals_total", MetricType::counter, "clients", "reason", Across::no_partitions,
     "Clients of producers (handler produce, retry and dead-letter topics) that were replaced: aborted "
     "(their "
     "transaction was), unanswered (their transaction was committed, but a request on the way to that was "
     "not "
     "answered), failed (they could not go on)."},
    {"drain_seconds", MetricType::histogram, "seconds", "", Across::no_partitions,
     "Time a lane took to drain."},
    {"abandoned_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records started and not finished when their lane ended; each is logged and will be delivered again."},
    {"duplicates_suppressed_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records delivered again that the completion map showed as done."},
    {"retries_scheduled", MetricType::gauge, "records", "topic,partition", Across::sum,
     "Records waiting for their next attempt."},
    // Failure
    {"dead_letters_total", MetricType::counter, "records", "topic,partition,reason", Across::sum,
     "Records that were given up and that the dead-letter topic has acknowledged."},
    {"retry_topics_total", MetricType::counter, "records", "topic,partition", Across::sum,
     "Records that used up their attempts here and that their next retry topic has acknowledged."},
    {"breaker_state", MetricType::gauge, "0, 1 or 2", "downstream", Across::no_partitions,
     "0: closed, calls go through; 1: half open, some ask whether it is back; 2: open, lanes hold."},
    {"downstream_pace", MetricType::gauge, "records/s", "downstream", Across::no_partitions,
     "Records that begin in a second since the downstream answered that there are too many calls (HTTP 429); "
     "0: as many as there are."},
    {"downstream_calls_total", MetricType::counter, "calls", "downstream,outcome", Across::no_partitions,
     "Calls that ended, by outcome: success (also where the record was rejected), http_3xx, http_4xx, "
     "http_5xx, timeout, "
     "other_failure."},
    // Memory and throughput
    {"fetched_bytes_total", MetricType::counter, "bytes", "topic,partition", Across::sum,
     "Key and value bytes taken from Kafka."},
    {"processed_bytes_total", MetricType::counter, "bytes", "topic,partition", Across::sum,
     "Key and value bytes of records that are done, or that their retry or dead-letter topic has "
     "acknowledged."},
    {"memory_records_bytes", MetricType::gauge, "bytes", "topic,partition", Across::sum,
     "Memory of records in the lanes: key, value and 512 bytes for each beside them."},
    // The process
    {"process_threads", MetricType::gauge, "threads", "", Across::no_partitions, "Threads of the process."},
    {"process_threads_expected", MetricType::gauge, "threads", "", Across::no_partitions,
     "Threads that the process has at most, about, with its partitions and all their workers at work."},
    {"trace_spans_total", MetricType::counter, "spans", "result", Across::no_partitions,
     "Spans by result: exported, dropped (too many waited), failed (the collector did not take them)."},
    {"client_certificate_expiry_timestamp_seconds", MetricType::gauge, "seconds", "file",
     Across::no_partitions,
     "Until when the certificate that brokers are shown is valid, since 1970, by its file as it was at the "
     "start."},
    {"build_info", MetricType::gauge, "1", "version,librdkafka", Across::no_partitions,
     "Always 1; the labels say what runs."},
    {"metrics_omitted_series", MetricType::gauge, "series", "metric", Across::no_partitions,
     "Series left out of this page because their metric has too many."},
};

/// Metrics of partitions have the labels topic and partition in front; what counts can only be summed.
consteval bool rows_say_how_partitions_are_aggregated() {
  for (const MetricInfo& info : metric_table) {
    const bool of_partitions = info.labels.starts_with("topic,partition");
    if (of_partitions == (info.across == Across::no_partitions)) return false;
    if (of_partitions && info.type != MetricType::gauge && info.across != Across::sum) return false;
  }
  return true;
}
static_assert(rows_say_how_partitions_are_aggregated());

/// Looked up while compiling.
consteval const MetricInfo& metric(std::string_view name) {
  for (const MetricInfo& info : metric_table)
    if (info.name == name) return info;
  throw "no metric of this name in metric_table";
}

}  // namespace laneway::telemetry
