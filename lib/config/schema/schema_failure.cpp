#include "config/schema/schema_failure.h"

#include "config/checks/checks.h"
#include "config/schema/shared_rows.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr Reload topics_at_start = Reload::restart("topics are looked up and created at the start");

#define AT(field) \
  [](auto& config) -> auto& { return config.field; }

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

void add_attempts(std::vector<Property>& table) {
  table.push_back(
      count("retry.attempts", in_flight, 1, 1'000'000,
            "Maximum number of attempts at a record that fails while other records succeed. Then the record "
            "goes to the dead-letter topic. Without a dead-letter topic there is no limit.",
            AT(retry.attempts)));
  table.push_back(duration("retry.backoff", in_flight, milliseconds(1), hours(24),
                           "Delay before the second attempt. The delay doubles with each further attempt, up "
                           "to `retry.max_backoff`.",
                           AT(retry.backoff)));
  table.push_back(duration("retry.max_backoff", in_flight, milliseconds(1), hours(24),
                           "Longest delay between two attempts.", AT(retry.max_backoff)));
  table.push_back(duration("retry.max_elapsed", in_flight, milliseconds(1), hours(24 * 7),
                           "Maximum total time of a record's attempts that count and of the delays between "
                           "them. After this time the record goes to the dead-letter topic.",
                           AT(retry.max_elapsed)));
  table.push_back(count("retry.max_waiting", in_flight, 1, 1'000'000,
                        "Maximum number of records of one partition that wait for their next attempt. A lane "
                        "that reaches the limit holds.",
                        AT(retry.max_waiting)));
}

void add_retry(std::vector<Property>& table) {
  add_attempts(table);
  table.push_back(list_property(
      "retry.topics", topics_at_start, "a list of rising durations from 1ms to 168h, such as [5s, 1m, 10m]",
      "Delays of further attempts, one attempt per delay. A record waits for them in the topic "
      "<topic>-retry-<delay>, and not in its lane. Needs `lanes.order: none`.",
      AT(retry.topics), retry_delay, [](const RetryDelay& delay) { return delay.text; }, check_delays));
  table.push_back(flag("retry.create", topics_at_start,
                       "Whether laneway creates retry topics that are missing at the start. Their retention "
                       "is that of the consumed topic plus the delay.",
                       AT(retry.create)));
  table.push_back(count("retry.max_crashes",
                        Reload::restart("crashes are counted from a lane's assignment on"), 0, 1000,
                        "How many times the process may crash while a record is running before the record "
                        "goes to the dead-letter topic. After two crashes at the same offset, records run "
                        "alone until the record is found. 0 disables the counting.",
                        AT(retry.max_crashes)));
}

void add_ledger(std::vector<Property>& table) {
  table.push_back(duration("ledger.max_age", in_flight, Duration::zero(), hours(24 * 7),
                           "How long the oldest unfinished record of a partition may hold back the commits "
                           "before `ledger.policy` applies. 0s means no limit.",
                           AT(ledger.max_age)));
  table.push_back(choice<LedgerPolicy>(
      "ledger.policy", in_flight, {{"hold", LedgerPolicy::hold}, {"dead_letter", LedgerPolicy::dead_letter}},
      "What to do when the oldest unfinished record exceeds `ledger.max_age`, or when newer records have "
      "reached `lanes.max_incomplete`: `hold` keeps waiting and logs a warning, `dead_letter` sends the "
      "record to the dead-letter topic if it has already failed.",
      AT(ledger.policy)));
}

void add_dead_letter(std::vector<Property>& table) {
  table.push_back(
      text("dead_letter.topic", topics_at_start,
           "the name of a topic, in which {topic} stands for the record's own topic; \"\" for none",
           "The topic that receives records that cannot be processed. Without a dead-letter topic, these "
           "records are retried forever, and block the commits of their partition.",
           AT(dead_letter.topic), check_topic_template));
  table.push_back(choice<DeadLetterHeaders>(
      "dead_letter.headers", Reload::restart("the writer of dead letters is created at the start"),
      {{"spring", DeadLetterHeaders::spring}, {"connect", DeadLetterHeaders::connect}},
      "Names of the headers with a dead letter's origin and reason: as Spring Kafka or as Kafka Connect "
      "writes them.",
      AT(dead_letter.headers)));
  table.push_back(flag("dead_letter.create", topics_at_start,
                       "Whether laneway creates dead-letter topics that are missing at the start. Their "
                       "retention is unlimited.",
                       AT(dead_letter.create)));
  table.push_back(count("dead_letter.max_rate", in_flight, 0, 1'000'000,
                        "How many records per second, averaged over a minute, may be rejected beyond the "
                        "number of records that are done. Above this rate rejected records are not "
                        "dead-lettered, but tried again. 0 means no limit.",
                        AT(dead_letter.max_rate)));
}

}  // namespace

void add_failure_properties(std::vector<Property>& table) {
  add_rate(table, "rate", "this process", AT(rate));
  add_retry(table);
  add_ledger(table);
  add_dead_letter(table);
  add_breaker(table, "breaker", AT(breaker));
}

void add_lane_rate(std::vector<Property>& table) {
  add_rate(table, "lanes.rate", "one partition", AT(lanes.rate));
}

#undef AT

}  // namespace laneway::config
