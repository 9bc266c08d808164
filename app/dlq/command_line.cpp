#include <CLI/CLI.hpp>
#include <limits>

#include "app/cli/help.h"
#include "app/cli/option.h"
#include "app/dlq/options.h"
#include "base/time.h"

namespace laneway::dlq {
namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 62;

void add_time(CLI::App& verb, const char* name, std::optional<std::int64_t>& time, const char* what) {
  verb.add_option_function<std::string>(
          name,
          [&time, name](const std::string& text) {
            const auto parsed = parse_time(text, wall_clock_ms());
            if (!parsed) throw CLI::ValidationError(name, parsed.error().text());
            time = *parsed;
          },
          what)
      ->option_text("TIME");
}

std::string not_a_topic(const std::string& text) {
  const auto place = cli::parse_place(text);
  return place && !place->partition ? "" : "'" + text + "' is not the name of a topic";
}

void add_topics(CLI::App& verb, Options& options) {
  cli::repeated(cli::add_option(verb, "--topic", "TOPIC", options.topics,
                                "read this dead-letter topic instead of the configured one; can be repeated",
                                not_a_topic));
}

void add_filter(CLI::App& verb, Filter& filter) {
  const auto take_origin = [&filter](const std::string& text) {
    filter.origin = cli::parse_place(text);
    if (!filter.origin)
      throw CLI::ValidationError("--origin",
                                 "'" + text + "' is not a place; write orders, orders:2 or orders:2:40");
  };
  verb.add_option_function<std::string>("--origin", take_origin, "only from this topic, partition or record")
      ->option_text("TOPIC[:PARTITION[:OFFSET]]");
  cli::add_option(verb, "--partition", "NUMBER", filter.partition, "only from this partition, of any topic",
                  cli::whole_number(0, std::numeric_limits<std::int32_t>::max()));
  add_time(verb, "--since", filter.since,
           "only records that failed at this time or later, such as 2026-11-21, 2026-11-21T10:30:00Z (UTC), "
           "or 24h for 24 hours ago");
  add_time(verb, "--until", filter.until, "only records that failed before this time");
  cli::add_option(verb, "--reason", "TEXT", filter.reason,
                  "only with this text in the reason (case-insensitive)");
  const auto take_headers = [&filter](const std::vector<std::string>& texts) {
    for (const auto& text : texts) filter.headers.push_back(parse_header_wish(text));
  };
  cli::repeated(verb.add_option_function<std::vector<std::string>>("--header", take_headers,
                                                                   "only with this header; can be repeated")
                    ->option_text("NAME[=VALUE]"));
}

CLI::App* add_inner(CLI::App& dlq, const char* name, const char* what) {
  return dlq.add_subcommand(name, what)->group(cli::group::inner);
}

void add_list(CLI::App& dlq, Options& options) {
  CLI::App* verb = add_inner(dlq, "list", "List dead letters, one line each, and count them");
  add_topics(*verb, options);
  add_filter(*verb, options.filter);
  verb->add_flag("--pending", options.pending, "only dead letters that redrive has not sent back");
  cli::add_option(*verb, "--limit", "NUMBER", options.limit,
                  "maximum number of lines; all letters are counted (default: all)",
                  cli::whole_number(0, most));
  verb->add_flag("--json", options.json, "print one JSON object per line, without the counts");
  verb->footer(
      cli::footer("The column `sent` says whether `laneway dlq redrive` has sent the letter back (? if the "
                  "brokers do not say). The marks come from the committed offsets of the group "
                  "<group.id>-redrive: brokers delete these offsets some time after the last redrive "
                  "(offsets.retention.minutes, 7 days by default), and then every letter counts as not sent. "
                  "On a terminal, lines are cut at its width; in a pipe or a file nothing is cut.",
                  {"laneway dlq list -c orders.yaml --pending",
                   "laneway dlq list -c orders.yaml --since 24h --reason timeout"}));
}

void add_show(CLI::App& dlq, Options& options) {
  CLI::App* verb = add_inner(dlq, "show", "Show all details of one dead letter");
  add_topics(*verb, options);
  cli::add_option(*verb, "letter", "[TOPIC:]PARTITION:OFFSET", options.place,
                  "the dead letter, as list prints it")
      ->required();
  cli::add_option(*verb, "--bytes", "NUMBER", options.bytes,
                  "maximum number of bytes of each header, key and value (default 4096; 0: all)",
                  cli::whole_number(0, most));
  verb->footer(cli::footer("", {"laneway dlq show -c orders.yaml orders-dlt:0:17"}));
}

void add_redrive(CLI::App& dlq, Options& options) {
  CLI::App* verb = add_inner(dlq, "redrive", "Send dead letters back to the topics that they came from");
  add_topics(*verb, options);
  add_filter(*verb, options.filter);
  verb->add_flag("--yes", options.yes, "send; without --yes the letters are only counted");
  // As in `dlq list`. A redrive never sends a letter twice, so the option changes nothing.
  verb->add_flag("--pending", options.pending, "")->group("");
  cli::add_option(*verb, "--to", "TOPIC", options.to, "send all letters to this topic instead", not_a_topic);
  cli::add_option(*verb, "--rate", "NUMBER", options.rate,
                  "maximum number of records per second (default: no limit)", cli::number(0.001, 1e9));
  verb->add_flag("--present-time", options.present_time,
                 "send with the current time instead of the records' own timestamps");
  cli::add_option(*verb, "--max-redrives", "NUMBER", options.max_redrives,
                  "leave out records that were already sent back this many times (default 3)",
                  cli::whole_number(1, std::numeric_limits<std::uint32_t>::max()));
  verb->footer(
      cli::footer("A letter that was sent is not sent again: the offsets of the group <group.id>-redrive "
                  "remember it, also after an interruption. Run one redrive of a topic at a time.",
                  {"laneway dlq redrive -c orders.yaml --since 24h",
                   "laneway dlq redrive -c orders.yaml --since 24h --yes"}));
}

}  // namespace

CLI::App* add_verb(CLI::App& program, Options& options) {
  CLI::App* verb = program.add_subcommand("dlq", "List, show and send back dead letters")
                       ->group(cli::group::letters)
                       ->require_subcommand(1);
  add_list(*verb, options);
  add_show(*verb, options);
  add_redrive(*verb, options);
  verb->footer(cli::footer("", {"laneway dlq list -c orders.yaml", "laneway help dlq redrive"}));
  return verb;
}

}  // namespace laneway::dlq
