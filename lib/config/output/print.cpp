#include "config/output/print.h"

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_path.h"
#include "config/pools/pool_scope.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::size_t widest_comment = 110;

/// Writes dotted names as nested YAML.
class Writer {
 public:
  /// Opens the groups of the name that are not open. `comment` is written above the key. A key that is `off`
  /// is commented out, and so are the groups that are opened for it.
  void write(const std::string& name, const std::string& value, const std::string& comment = "",
             bool off = false) {
    const auto words = split(name, ".");
    const std::vector<std::string> groups(words.begin(), words.end() - 1);
    std::size_t common = 0;
    while (common < groups.size() && common < open_.size() && groups[common] == open_[common]) ++common;
    for (std::size_t i = common; i < groups.size(); ++i) {
      if (i == 0 && !comment.empty()) out_ += "\n";
      line(i, groups[i] + ":", off && i > 0);
    }
    open_ = groups;
    if (!comment.empty()) {
      if (groups.empty()) out_ += "\n";
      for (const auto& part : words_in_lines(comment, widest_comment - 2 * groups.size(), 0))
        line(groups.size(), "# " + part, off);
    }
    line(groups.size(), words.back() + ": " + value, off);
  }

  /// A line as it is. `off` comments it out, and needs a depth of at least 1; removing the "# " puts it in
  /// force.
  void line(std::size_t depth, const std::string& text, bool off = false) {
    out_.append(2 * (off ? 1 : depth), ' ');
    if (off) out_.append("# ").append(2 * (depth - 1), ' ');
    out_ += text;
    out_ += '\n';
  }

  std::string take() { return std::move(out_); }

 private:
  std::vector<std::string> open_;
  std::string out_;
};

/// Without the examples of units, which the top of the file gives once.
std::string comment_of(std::string_view description, const std::string& expects) {
  std::string values = expects.substr(0, expects.find(", such as"));
  if (!values.empty() && values[0] >= 'a' && values[0] <= 'z')
    values[0] = static_cast<char>(values[0] - 'a' + 'A');
  return std::string(description) + (values == "Text" ? "" : " " + values + ".");
}

std::string example_of(const ClientKey& key) {
  if (key.name == "bootstrap.servers") return "127.0.0.1:9092";
  return key.name == "group.id" ? "orders" : std::string(key.default_value);
}

void write_client_key(Writer& writer, const ClientKey& key) {
  const auto example = example_of(key);
  std::string line = std::string(key.name) + ":";
  if (!example.empty()) line.append(" ").append(yaml_scalar(example));
  line += "  # " + comment_of(key.description, key.expects());
  if (key.secret) line += " " + std::string(key.name) + "_file names a file with the secret.";
  if (!key.since.empty()) line += " Needs librdkafka " + std::string(key.since) + " or later.";
  writer.line(1, line, example.empty());
}

constexpr const char* introduction =
    R"(# Every key of laneway with its default. Lines that are commented out show further keys.
#
# Precedence: --set lanes.workers=16 overrides LANEWAY_LANES__WORKERS=16, which overrides this file.
# Variables: LANEWAY_, then the key in capital letters. A dot between groups becomes two underscores
# (lanes.workers: LANEWAY_LANES__WORKERS); in a key below kafka, each dot becomes one underscore
# (kafka.bootstrap.servers: LANEWAY_KAFKA__BOOTSTRAP_SERVERS). Lists and maps are written as in YAML:
# --set topics='[orders, payments]', LANEWAY_TOPICS='[orders, payments]'.
#
# ${NAME} in a value is replaced from the environment; $${ is ${ itself. Durations: 500ms 2s 1m. Sizes: 64KiB 1MiB.

# The keys of librdkafka, the Kafka client. Keys that are commented out have the library's default.
# bootstrap.servers and group.id are required.
)";

/// The handler of the pool and its keys.
void print_handler(Writer& writer, const ConstScope& scope) {
  const auto& handler = handler_of(scope.handler);
  const auto rows = handler.properties();
  const auto begin = scope.pool.scope();
  if (rows.empty()) writer.write(begin + "handler", std::string(handler.name));
  for (const Property& property : rows) writer.write(begin + property.name, property.print(scope));
}

void print_pools(Writer& writer, const Config& config) {
  for (const PoolSettings& pool : config.pools) {
    const ConstScope scope(config, pool);
    for (const Property& property : properties())
      if (property.name.starts_with(pool_rows))
        writer.write(name_in_pool(pool.name, property.name), property.print(scope));
    if (pool.handler) print_handler(writer, scope);
  }
}

/// The sections that have no defaults to show.
bool is_off(const Config& config, const std::string& name) {
  return name.starts_with(pool_rows) || (name.starts_with("route.") && !shows_pools(config));
}

}  // namespace

std::string print(const Config& config) {
  Writer writer;
  writer.line(0, "kafka:");
  for (const auto& [key, setting] : config.kafka)
    writer.line(1, key + ": " + (setting.secret ? "\"*****\"" : yaml_scalar(setting.value)));
  bool handler_printed = !shows_handler(config);
  for (const Property& property : properties()) {
    const bool of_handler = property.name.starts_with("handler.");
    if (of_handler && !handler_printed) {
      print_handler(writer, config);
      handler_printed = true;
    }
    if (!of_handler && !is_off(config, property.name)) writer.write(property.name, property.print(config));
  }
  print_pools(writer, config);
  return writer.take();
}

std::string reference() {
  Writer writer;
  writer.line(0, "kafka:");
  for (const ClientKey& key : client_keys()) write_client_key(writer, key);
  for (const Property& property : properties()) {
    Config config;
    const auto group = split(property.name, ".");
    const std::string handler = group.front() == "handler" ? group[1] : "http";
    config.handler = find_handler(handler)->defaults;
    const bool off = handler != "http" || group.front() == "pools";
    writer.write(property.name, property.example.empty() ? property.print(config) : property.example,
                 comment_of(property.description, property.expects), off);
  }
  return introduction + writer.take();
}

}  // namespace laneway::config
