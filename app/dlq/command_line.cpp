#include "app/dlq/command_line.h"

#include <CLI/CLI.hpp>
#include <limits>

namespace laneway::dlq {
namespace {

void add_time(CLI::App& verb, const char* name, std::optional<std::int64_t>& time, const char* what) {
  verb.add_option_function<std::string>(
          name,
          [&time, name](const std::string& text) {
            const auto parsed = parse_time(text, now_ms());
            if (!parsed) throw CLI::ValidationError(name, parsed.error().text());
            time = *parsed;
          },
          what)
      ->option_text("TIME");
}

void add_topics(CLI::App& verb, Options& options) {
  verb.add_option("--topic", options.topics, "a dead-letter topic, instead of those of the configuration")
      ->option_text("TOPIC")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_filter(CLI::App& verb, Filter& filter) {
  verb.add_option("--origin", filter.origin, "only from this topic")->option_text("TOPIC");
  verb.add_option("--partition", filter.partition, "only from this partition of it")
      ->option_text("NUMBER")
      ->check(CLI::NonNegativeNumber);
  add_time(verb, "--since", filter.since, "only what failed then or later (UTC; or so long ago: 24h)");
  add_time(verb, "--until", filter.until, "only what failed before");
  verb.add_option("--reason", filter.reason, "only with this text in the reason")->option_text("TEXT");
  verb.add_option_function<std::vector<std::string>>(
          "--header",
          [&filter](const std::vector<std::string>& texts) {
            for (const auto& text : texts) filter.headers.push_back(parse_header_wish(text));
          },
          "only with this header; as often as needed")
      ->option_text("NAME[=VALUE]")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_list(CLI::App& dlq, Options& options) {
  CLI::App* verb = dlq.add_subcommand("list", "one line a dead letter, and how many there are");
  add_topics(*verb, options);
  add_filter(*verb, options.filter);
  verb->add_option("--limit", options.limit, "so many lines at the most; all are counted")->option_text("N");
  verb->add_flag("--json", options.json, "an object a line, without the counts");
}

void add_show(CLI::App& dlq, Options& options) {
  CLI::App* verb = dlq.add_subcommand("show", "all of one dead letter");
  add_topics(*verb, options);
  verb->add_option("letter", options.place, "as list shows it")
      ->option_text("[TOPIC:]PARTITION:OFFSET")
      ->required();
  verb->add_option("--bytes", options.bytes, "of each header, key and value at the most; 0: all")
      ->option_text("N")
      ->capture_default_str();
}

void add_redrive(CLI::App& dlq, Options& options) {
  CLI::App* verb = dlq.add_subcommand("redrive", "send dead letters back to where they came from");
  add_topics(*verb, options);
  add_filter(*verb, options.filter);
  verb->add_flag("--yes", options.yes, "send; without it they are only counted");
  verb->add_option("--to", options.to, "send all to this topic instead")->option_text("TOPIC");
  verb->add_option("--rate", options.rate, "so many a second at the most")
      ->option_text("N")
      ->check(CLI::Range(0.001, 1e9));
  verb->add_flag("--present-time", options.present_time,
                 "with the present time instead of their own timestamps");
  verb->add_option("--max-redrives", options.max_redrives, "leave what was sent back so often before")
      ->option_text("N")
      ->check(CLI::Range(std::uint32_t{1}, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  verb->footer(
      "What was sent once is not sent again: the offsets of the group <group.id>-redrive remember it, also "
      "after an\ninterruption. One redrive of a topic at a time.");
}

}  // namespace

CLI::App* add_verb(CLI::App& program, Options& options) {
  CLI::App* verb = program.add_subcommand("dlq", "look at dead letters, send them back")
                       ->group("Verbs")
                       ->require_subcommand(1);
  add_list(*verb, options);
  add_show(*verb, options);
  add_redrive(*verb, options);
  return verb;
}

}  // namespace laneway::dlq
