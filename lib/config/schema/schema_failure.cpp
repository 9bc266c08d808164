#include "config/schema/schema_failure.h"

#include "config/rules/checks.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr Reload topics_at_start = Reload::restart("topics are looked for and created at the start");

#define AT(field) \
  [](auto& config) -> auto& { return config.field; }

template <class Access>
void add_rate(std::vector<Property>& table, const std::string& section, const std::string& whose,
              Access access) {
  constexpr std::uint64_t most = 1'000'000'000;
  table.push_back(count(
      section + ".records", in_flight, 0, most,
      "records a second " + whose + "; 0: no limit", [access](auto& config) -> auto& {
        return access(config).records;
      }));
  table.push_back(size(
      section + ".bytes", in_flight, 0, 1ULL << 40,
      "bytes of keys and values a second " + whose + "; 0: no limit", [access](auto& config) -> auto& {
        return access(config).bytes;
      }));
  table.push_back(duration(
      section + ".burst", in_flight, milliseconds(1), hours(1),
      "what the rate brings in so long may go out at once", [access](auto& config) -> auto& {
        return access(config).burst;
      }));
}

Result<RetryDelay> retry_delay(const std::string& text) {
  const auto parsed = parse_duration_within(milliseconds(1), hours(24 * 7))(text);
  if (!parsed) return parsed.error();
  return RetryDelay{text, *parsed};
}

std::string check_delays(const std::vector<RetryDelay>& delays) {
  for (std::size_t i = 1; i < delays.size(); ++i)
    if (delays[i].duration <= delays[i - 1].duration)
      return delays[i].text + " is not longer than " + delays[i - 1].text + " before it";
  return "";
}

void add_retry(std::vector<Property>& table) {
  table.push_back(
      count("retry.attempts", in_flight, 1, 1'000'000,
            "attempts at a record that fails while other records succeed; then it goes to the dead-letter "
            "topic, if there is one",
            AT(retry.attempts)));
  table.push_back(duration("retry.backoff", in_flight, milliseconds(1), hours(24),
                           "delay before the second attempt; then it doubles", AT(retry.backoff)));
  table.push_back(duration("retry.max_backoff", in_flight, milliseconds(1), hours(24),
                           "longest delay between attempts", AT(retry.max_backoff)));
  table.push_back(duration(
      "retry.max_elapsed", in_flight, milliseconds(1), hours(24 * 7),
      "a record's attempts that count and the delays between them, in all; then it goes to the dead-letter "
      "topic",
      AT(retry.max_elapsed)));
  table.push_back(count("retry.max_waiting", in_flight, 1, 1'000'000,
                        "records of one partition that wait for a retry; beyond, the lane holds",
                        AT(retry.max_waiting)));
  table.push_back(list_property(
      "retry.topics", topics_at_start, "a list of rising durations from 1ms to 168h, such as [5s, 1m, 10m]",
      "delays of further attempts, one each, in topics named <topic>-retry-<delay>; lanes.order: none only",
      AT(retry.topics), retry_delay, [](const RetryDelay& delay) { return delay.text; }, check_delays));
  table.push_back(flag("retry.create", topics_at_start,
                       "a retry topic that is missing at the start is created, with the retention of its own "
                       "topic and the delay",
                       AT(retry.create)));
  table.push_back(
      count("retry.max_crashes", Reload::restart("it is counted from a lane's assignment on"), 0, 1000,
            "ends of the process with a record at work, alone in all but the first; then it goes to the "
            "dead-letter topic; 0: they are not counted",
            AT(retry.max_crashes)));
}

void add_ledger(std::vector<Property>& table) {
  table.push_back(
      duration("ledger.max_age", in_flight, Duration::zero(), hours(24 * 7),
               "the oldest record that is not done may hold back the commits for so long; 0ms: forever",
               AT(ledger.max_age)));
  table.push_back(choice<LedgerPolicy>(
      "ledger.policy", in_flight, {{"hold", LedgerPolicy::hold}, {"dead_letter", LedgerPolicy::dead_letter}},
      "beyond max_age, or when lanes.max_incomplete is reached because others pass it: hold and say so, or "
      "give up a record that failed",
      AT(ledger.policy)));
}

void add_dead_letter(std::vector<Property>& table) {
  table.push_back(text("dead_letter.topic", topics_at_start,
                       "a topic, in which {topic} is the record's own; \"\" for none",
                       "where records go that cannot be processed; without it they are retried forever",
                       AT(dead_letter.topic), check_topic_template));
  table.push_back(choice<DeadLetterHeaders>(
      "dead_letter.headers", Reload::restart("what writes dead letters is made at the start"),
      {{"spring", DeadLetterHeaders::spring}, {"connect", DeadLetterHeaders::connect}},
      "the headers that say where a dead letter came from, and why: Spring's or Kafka Connect's",
      AT(dead_letter.headers)));
  table.push_back(
      flag("dead_letter.create", topics_at_start,
           "a dead-letter topic that is missing at the start is created, with unlimited retention",
           AT(dead_letter.create)));
  table.push_back(
      count("dead_letter.max_rate", in_flight, 0, 1'000'000,
            "records a second, over a minute, that may be rejected beyond those that are done; when more are "
            "rejected, none is given up, and they are tried again; 0: no limit",
            AT(dead_letter.max_rate)));
}

void add_breaker(std::vector<Property>& table) {
  table.push_back(count(
      "breaker.failures", in_flight, 0, 1'000'000,
      "so many different records in a row, at least, or half of those in the window must fail before the "
      "downstream is taken to be out; 0: it never is, and each failure counts against its record",
      AT(breaker.failures)));
  table.push_back(duration("breaker.window", in_flight, seconds(1), hours(1),
                           "the time in which the calls of different records are compared",
                           AT(breaker.window)));
  table.push_back(duration("breaker.probe", in_flight, milliseconds(1), hours(1),
                           "how long a downstream that is out is left alone before another record asks",
                           AT(breaker.probe)));
  table.push_back(
      duration("breaker.slow", in_flight, Duration::zero(), hours(1),
               "a call that takes longer, or is stopped after longer, counts as a failure; 0ms: none does",
               AT(breaker.slow)));
}

}  // namespace

void add_failure_properties(std::vector<Property>& table) {
  add_rate(table, "rate", "of this process", AT(rate));
  add_retry(table);
  add_ledger(table);
  add_dead_letter(table);
  add_breaker(table);
}

void add_lane_rate(std::vector<Property>& table) {
  add_rate(table, "lanes.rate", "of one partition", AT(lanes.rate));
}

#undef AT

}  // namespace laneway::config
