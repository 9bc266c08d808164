#include "config/output/reference_page.h"

#include <algorithm>
#include <vector>

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

constexpr const char* page_introduction =
    R"(# Configuration

laneway reads one YAML file, `-c FILE`. This page is generated from the properties in `lib/config/schema` and `lib/config/handlers`.
`config/full.yaml` has the same keys as one file to copy from. `laneway check -c FILE` validates a file, and reports every mistake
with its line.

- The command line overrides the environment, and the environment overrides the file: `--set lanes.workers=16`, then
  `LANEWAY_LANES__WORKERS=16`, then `lanes: { workers: 16 }`.
- Lists and maps are written as in YAML, in quotes for the shell: `--set topics='[orders, payments]'`,
  `LANEWAY_HANDLER__EXEC__COMMAND='[python3, work.py]'`. A list of one element may be written without the brackets.
  A group of keys, such as `lanes` or `handler.http.batch`, is set key by key.
- `--set handler=exec` replaces the handler of the file by another one; a service has one handler.
- `${NAME}` in a value of the file is replaced from the environment; `$${` is `${` itself.
- Durations are `500ms`, `2s`, `1m`; sizes `64KiB`, `1MiB`.
- A key that does not exist is an error that names the nearest key.
- The column *reload* shows whether `laneway reload` changes the key while the service runs (live), or whether the change needs a
  restart; `laneway reload`
  then reports the reason.
- Secrets need not be in the file: `sasl.password_file: PATH` replaces `sasl.password`, and likewise for each key with a secret.

## Environment variables

The variable of a key is `LANEWAY_`, followed by the key in capital letters. A dot between groups becomes two underscores. Below
`kafka` and in its keys, dots belong to the name, and each becomes one underscore:

| key | variable |
|---|---|
| `consumers` | `LANEWAY_CONSUMERS` |
| `lanes.workers` | `LANEWAY_LANES__WORKERS` |
| `handler.http.batch.records` | `LANEWAY_HANDLER__HTTP__BATCH__RECORDS` |
| `dead_letter.topic` | `LANEWAY_DEAD_LETTER__TOPIC` |
| `kafka.bootstrap.servers` | `LANEWAY_KAFKA__BOOTSTRAP_SERVERS` |
| `kafka.sasl.password_file` | `LANEWAY_KAFKA__SASL_PASSWORD_FILE` |

The keys of `handler.produce.kafka` have no variables of their own; the whole map has one:
`LANEWAY_HANDLER__PRODUCE__KAFKA='{ linger.ms: 20 }'`.

A variable with the prefix `LANEWAY_` that is not the variable of a key is an error. The exception are the variables that Kubernetes
sets for a Service named `laneway` or `laneway-…`, such as `LANEWAY_PORT` and `LANEWAY_SERVICE_HOST`: they are ignored with a warning,
which `enableServiceLinks: false` in the pod's spec ends.

## The shortest useful file

```yaml
kafka: { bootstrap.servers: "127.0.0.1:9092", group.id: orders-webhook }
topics: [orders]
handler:
  http: { url: "http://127.0.0.1:8080/orders" }
```
)";

/// The handlers have their own sections. A section that is not in this list still gets its table.
struct Section {
  const char* name;
  const char* text;
  const char* example;
};

constexpr Section page_sections[] = {
    {"",
     "The topics, and the number of group members. The work is one of the handlers below; `handler: { log: "
     "{} }` prints each record to standard output, and has no keys.",
     "topics: [orders, payments]\nconsumers: 2\n"},
    {"lanes", "How the records of each partition are processed. Which values to choose: [tuning](tuning.md).",
     "lanes: { workers: 16, queue: 128, order: key }\n"},
    {"route",
     "Which of the named pools below a record goes to first: see [pools](pools.md). Without `route`, all "
     "records go to the first pool of the file.",
     "route:\n  by: header:tenant\n  pools: { gold: critical, \"free-*\": bulk }\n  default: bulk\npools:\n  "
     "critical: { workers: 32 }\n  bulk: { workers: 8 }\n"},
    {"pools",
     "Pools with names of your own, in place of the one pool of each lane. `NAME` stands for the name: "
     "letters, digits, - and _.\nA pool can have a `handler` of its own, with all keys of the section "
     "`handler.…` below `pools.NAME.handler`; otherwise the\nservice's handler does its work. Pools are "
     "named in the file; their keys can also be set from outside: `--set "
     "pools.bulk.workers=4`,\n`LANEWAY_POOLS__BULK__WORKERS=4` (a - in a name is a _ in the variable). What "
     "pools are for: [pools](pools.md).",
     "handler:\n  http: { url: \"http://127.0.0.1:8080/images\" }\npools:\n  resize: { total: cores, "
     "handler: { exec: { command: [./resize] } }, then: store }\n  store: { workers: 32 }\n"},
    {"commit", "When offsets are committed. Both keys apply, and the first that is reached commits.",
     "commit: { interval: 500ms }\n"},
    {"rate",
     "A rate limit of the whole process. `lanes.rate` is a limit of each partition. 0 means no limit.",
     "rate: { records: 500 }\n"},
    {"retry", "How a record that fails is tried again. [Outages](outages.md) are treated differently.",
     "retry: { attempts: 3, topics: [5s, 1m, 10m] }\ndead_letter: { topic: \"{topic}-dlt\" }\n"},
    {"ledger", "The oldest unfinished record of a partition, which holds back the commits of the partition.",
     "ledger: { max_age: 30m, policy: dead_letter }\ndead_letter: { topic: \"{topic}-dlt\" }\n"},
    {"dead_letter",
     "The topic for records that cannot be processed. Without a dead-letter topic, these records are retried "
     "forever.",
     "dead_letter: { topic: \"{topic}-dlt\", headers: connect }\n"},
    {"breaker",
     "Recognises an outage of the downstream: lanes hold until the outage is over. See "
     "[outages](outages.md).",
     "breaker: { failures: 10, probe: 2s }\n"},
    {"journal", "One line for every attempt, for audits.",
     "journal: { file: /var/lib/laneway/journal.jsonl }\n"},
    {"admin", "The page, metrics, health checks, status and control over HTTP.",
     "admin: { listen: \"127.0.0.1:9645\" }\n"},
    {"log", "The log, which is written to standard error.", "log: { level: warn, format: json }\n"},
    {"trace", "Spans of the attempts, for an OpenTelemetry collector.",
     "trace: { otlp: \"http://127.0.0.1:4318/v1/traces\", sample: 0.1 }\n"},
};

/// The handler's own section, or the first word of the name.
std::string section_of(const std::string& name) {
  const auto words = split(name, ".");
  if (words.size() == 1) return "";
  return words[0] == "handler" ? words[0] + '.' + words[1] : words[0];
}

std::string replaced(std::string text, char what, const std::string& by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, 1, by);
  return text;
}

/// As the cell of a table.
std::string cell(const std::string& text) { return replaced(text, '|', "\\|"); }
std::string code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string row(const std::string& key, const std::string& standard, const std::string& expects, bool live,
                const std::string& what) {
  return "| " + code(key) + " | " + standard + " | " + cell(expects) + " | " + (live ? "live" : "restart") +
         " | " + cell(what) + " |\n";
}

constexpr const char* table_head = "| key | default | values | reload | meaning |\n|---|---|---|---|---|\n";

std::string row_of(const Property& property) {
  Config config;
  const auto group = split(property.name, ".");
  if (group.front() == "handler") config.handler = find_handler(group[1])->defaults;
  const auto standard = property.example.empty() ? code(property.print(config)) : "none";
  return row(property.name, standard, property.expects.substr(0, property.expects.find(", such as")),
             property.reload.is_in_flight(), property.description);
}

std::string row_of(const ClientKey& key) {
  std::string what(key.description);
  if (key.secret) what += " " + std::string(key.name) + "_file names a file with the secret.";
  if (!key.since.empty()) what += " Needs librdkafka " + std::string(key.since) + " or later.";
  return row(std::string(key.name), code(std::string(key.default_value)), key.expects(), false, what);
}

std::string title_of(const std::string& name) { return name.empty() ? "The service" : "`" + name + "`"; }

std::string head_of(const std::string& name) {
  std::string page = "\n## " + title_of(name) + "\n\n";
  constexpr std::string_view of_handler = "handler.";
  if (name.starts_with(of_handler)) {
    const auto& section = find_handler(name.substr(of_handler.size()))->section;
    return page + section.text + "\n\n```yaml\n" + section.example + "```\n\n" + table_head;
  }
  const auto* known = std::find_if(std::begin(page_sections), std::end(page_sections),
                                   [&](const Section& section) { return section.name == name; });
  if (known == std::end(page_sections)) return page + table_head;
  return page + known->text + "\n\n```yaml\n" + known->example + "```\n\n" + table_head;
}

std::string kafka_section() {
  std::string page =
      "\n## `kafka`\n\n"
      "The keys of librdkafka, the Kafka client, with their own names. `bootstrap.servers` and `group.id` "
      "are required. A key\nwithout a default here has the library's default. The keys of "
      "`handler.produce.kafka` are checked in the same way.\n\n```yaml\nkafka:\n  bootstrap.servers: "
      "\"broker-1:9093,broker-2:9093\"\n  group.id: orders-webhook\n  security.protocol: ssl\n```\n\n";
  page += table_head;
  for (const ClientKey& key : client_keys()) page += row_of(key);
  return page;
}

}  // namespace

std::string reference_page() {
  std::vector<std::string> names;
  for (const Property& property : properties())
    if (const auto name = section_of(property.name);
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  std::string page = page_introduction;
  for (const auto& name : names) {
    page += head_of(name);
    for (const Property& property : properties())
      if (section_of(property.name) == name) page += row_of(property);
  }
  return page + kafka_section();
}

}  // namespace laneway::config
