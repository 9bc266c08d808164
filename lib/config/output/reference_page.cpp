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

One YAML file, `-c FILE`. This page is made from the properties in `lib/config/schema` and `lib/config/handlers`; the same as one
file to copy from is `config/full.yaml`. `laneway check -c FILE` says what is in force and what is wrong, with the line.

- Each key can be overridden: `--set lanes.workers=16` goes before `LANEWAY_LANES__WORKERS=16` goes before the file.
- `${NAME}` in a value is replaced from the environment; `$${` is `${` itself.
- Durations are `500ms`, `2s`, `1m`; sizes `64KiB`, `1MiB`.
- A key that does not exist is an error, which names the nearest one that does.
- *reload* says whether `laneway reload` changes it in flight, or a restart is needed; `laneway reload` says why.
- Secrets need not be in the file: `sasl.password_file: PATH` stands for `sasl.password`, and so for each key that holds one.

The shortest useful file:

```yaml
kafka: { bootstrap.servers: "127.0.0.1:9092", group.id: orders-webhook }
topics: [orders]
handler:
  http: { url: "http://127.0.0.1:8080/orders" }
```
)";

/// The handlers have their own. A section that is not here has its table all the same.
struct Section {
  const char* name;
  const char* text;
  const char* example;
};

constexpr Section page_sections[] = {
    {"",
     "What is consumed, and by how many. The work is one of the handlers below; `handler: { log: {} }` "
     "prints "
     "records, for looking, and has no keys.",
     "topics: [orders, payments]\nconsumers: 2\n"},
    {"lanes", "How each partition is worked on. What to set: [tuning](tuning.md).",
     "lanes: { workers: 16, queue: 128, order: key }\n"},
    {"commit", "When offsets are committed: whichever comes first.", "commit: { interval: 500ms }\n"},
    {"rate", "A limit of the whole process; `lanes.rate` is one of each partition. 0 is none.",
     "rate: { records: 500 }\n"},
    {"retry", "What happens to a record that fails.",
     "retry: { attempts: 3, topics: [5s, 1m, 10m] }\ndead_letter: { topic: \"{topic}-dlt\" }\n"},
    {"ledger", "The oldest record that is not done, which holds back the commits of its partition.",
     "ledger: { max_age: 30m, policy: dead_letter }\ndead_letter: { topic: \"{topic}-dlt\" }\n"},
    {"dead_letter", "Where records go that are given up. Without a topic they are tried forever.",
     "dead_letter: { topic: \"{topic}-dlt\", headers: connect }\n"},
    {"breaker", "An outage of what the handler talks to: lanes hold until it is over.",
     "breaker: { failures: 10, probe: 2s }\n"},
    {"journal", "A line for every attempt, for audits.",
     "journal: { file: /var/lib/laneway/journal.jsonl }\n"},
    {"admin", "Metrics, health, status and control over HTTP.", "admin: { listen: \"127.0.0.1:9645\" }\n"},
    {"log", "What is written to standard error.", "log: { level: warn, format: json }\n"},
    {"trace", "Spans of the attempts at records, for a collector of OpenTelemetry.",
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

std::string row(const std::string& key, const std::string& standard, const std::string& expects,
                bool in_flight, const std::string& what) {
  return "| " + code(key) + " | " + standard + " | " + cell(expects) + " | " +
         (in_flight ? "in flight" : "restart") + " | " + cell(what) + " |\n";
}

constexpr const char* table_head = "| key | default | takes | reload | what it is |\n|---|---|---|---|---|\n";

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
  if (key.secret) what += "; " + std::string(key.name) + "_file names a file that holds it";
  if (!key.since.empty()) what += "; librdkafka " + std::string(key.since) + " or later";
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
      "librdkafka's own keys under their own names; `bootstrap.servers` and `group.id` are needed. Where no "
      "default is\nshown, the library's is in force. A producer's keys, of `handler.produce.client`, are "
      "checked likewise.\n\n```yaml\nkafka:\n  bootstrap.servers: \"broker-1:9093,broker-2:9093\"\n  "
      "group.id: "
      "orders-webhook\n  security.protocol: ssl\n```\n\n";
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
