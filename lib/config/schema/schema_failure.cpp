#include "config/schema/shared_rows.h"

#include "config/checks/checks.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

constexpr Reload topics_at_start = Reload::restart("topics are looked up and created at the start");

Result<RetryDelay> retry_delay(const std::string& text) {
  const auto parsed = within(parse_duration, milliseconds(1), hours(24 * 7))(text);
  if (!parsed) return parsed.error();
  return RetryDelay{text, *parsed};
}

std::string check_delays(const std::vector<RetryDelay>& delays) {
  for (std::size_t i = 1; i < delays.size(); ++i)
    if (delays[i].duration <= delays[i - 1].duration)
      return delays[i].text + " is not longer than " + delays[i - 1].text + " before it";
  return "";
}

Rows retry_rows() {
  return {
      {"retry.attempts", in_flight, count(1, 1'000'000), AT(retry.attempts),
       "Maximum number of attempts at a record that fails while other records succeed. Then the record goes "
       "to the dead-letter topic. Without a dead-letter topic there is no limit."},
      {"retry.backoff", in_flight, duration(milliseconds(1), hours(24)), AT(retry.backoff),
       "Delay before the second attempt. The delay doubles with each further attempt, up to "
       "`retry.max_backoff`."},
      {"retry.max_backoff", in_flight, duration(milliseconds(1), hours(24)), AT(retry.max_backoff),
       "Longest delay between two attempts."},
      {"retry.max_elapsed", in_flight, duration(milliseconds(1), hours(24 * 7)), AT(retry.max_elapsed),
       "Maximum total time of a record's attempts that count and of the delays between them. After this time "
       "the record goes to the dead-letter topic."},
      {"retry.max_waiting", in_flight, count(1, 1'000'000), AT(retry.max_waiting),
       "Maximum number of records of one partition that wait for their next attempt. A lane that reaches the "
       "limit holds."},
      {"retry.topics", topics_at_start,
       list("a list of rising durations from 1ms to 168h, such as [5s, 1m, 10m]", retry_delay, check_delays,
            [](const RetryDelay& delay) { return delay.text; }),
       AT(retry.topics),
       "Delays of further attempts, one attempt per delay. A record waits for them in the topic "
       "<topic>-retry-<delay>, and not in its lane. Needs `lanes.order: none`."},
      {"retry.create", topics_at_start, flag(), AT(retry.create),
       "Whether laneway creates retry topics that are missing at the start. Their retention is that of the "
       "consumed topic plus the delay."},
      {"retry.max_crashes", Reload::restart("crashes are counted from a lane's assignment on"),
       count(0, 1000), AT(retry.max_crashes),
       "How many times the process may crash while a record is running before the record goes to the "
       "dead-letter topic. After two crashes at the same offset, records run alone until the record is "
       "found. 0 disables the counting."},
  };
}

Rows ledger_rows() {
  return {
      {"ledger.max_age", in_flight, duration(Duration::zero(), hours(24 * 7)), AT(ledger.max_age),
       "How long the oldest unfinished record of a partition may hold back the commits before "
       "`ledger.policy` applies. 0s means no limit."},
      {"ledger.policy", in_flight,
       choice<LedgerPolicy>({{"hold", LedgerPolicy::hold}, {"dead_letter", LedgerPolicy::dead_letter}}),
       AT(ledger.policy),
       "What to do when the oldest unfinished record exceeds `ledger.max_age`, or when newer records have "
       "reached `lanes.max_incomplete`: `hold` keeps waiting and logs a warning, `dead_letter` sends the "
       "record to the dead-letter topic if it has already failed."},
  };
}

Rows dead_letter_rows() {
  return {
      {"dead_letter.topic", topics_at_start,
       text("the name of a topic, in which {topic} stands for the record's own topic; \"\" for none",
            check_topic_template),
       AT(dead_letter.topic),
       "The topic that receives records that cannot be processed. Without a dead-letter topic, these records "
       "are retried forever, and block the commits of their partition."},
      {"dead_letter.headers", Reload::restart("the writer of dead letters is created at the start"),
       choice<DeadLetterHeaders>(
           {{"spring", DeadLetterHeaders::spring}, {"connect", DeadLetterHeaders::connect}}),
       AT(dead_letter.headers),
       "Names of the headers with a dead letter's origin and reason: as Spring Kafka or as Kafka Connect "
       "writes them."},
      {"dead_letter.create", topics_at_start, flag(), AT(dead_letter.create),
       "Whether laneway creates dead-letter topics that are missing at the start. Their retention is "
       "unlimited."},
      {"dead_letter.max_rate", in_flight, count(0, 1'000'000), AT(dead_letter.max_rate),
       "How many records per second, averaged over a minute, may be rejected beyond the number of records "
       "that are done. Above this rate rejected records are not dead-lettered, but tried again. 0 means no "
       "limit."},
  };
}

}  // namespace

Rows failure_rows() {
  return joined({rate_rows("rate", "this process", AT(rate)), retry_rows(), ledger_rows(), dead_letter_rows(),
                 breaker_rows("breaker", AT(unnamed.breaker))});
}

}  // namespace laneway::config
