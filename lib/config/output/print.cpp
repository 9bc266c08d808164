#include "config/output/print.h"

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

/// Writes dotted names as nested YAML.
class Writer {
 public:
  /// Opens the groups of the name that are not open. `comment` lines go above the key; a key that is `off` is
  /// a comment itself, and so are the groups opened for it.
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
      line(groups.size(), "# " + comment, off);
    }
    line(groups.size(), words.back() + ": " + value, off);
  }

  /// A line as it is; `off` needs a depth of 1 at least, and taking the "# " away puts it in force.
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

/// Without the examples, which the top of the file gives once.
std::string comment_of(std::string_view description, const std::string& expects) {
  return std::string(description) + "; " + expects.substr(0, expects.find(", such as"));
}

bool applies(const Property& property, const std::string& handler) {
  return !property.name.starts_with("handler.") || property.name.starts_with("handler." + handler + ".");
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
  if (key.secret) line += "; " + std::string(key.name) + "_file names a file that holds it";
  if (!key.since.empty()) line += "; librdkafka " + std::string(key.since) + " or later";
  writer.line(1, line, example.empty());
}

constexpr const char* introduction =
    "# Every key that laneway knows, with its default; lines that are commented out show what else there "
    "is.\n"
    "# A test keeps this file equal to the properties in lib/config/schema and lib/config/handlers.\n"
    "#\n"
    "# Overrides: --set lanes.workers=16 before LANEWAY_LANES__WORKERS=16 before this file. ${NAME} in a "
    "value is replaced\n"
    "# from the environment, $${ is ${ itself. Durations: 500ms 2s 1m. Sizes: 64KiB 1MiB.\n"
    "\n"
    "# librdkafka's own keys; what is commented out has the library's default. bootstrap.servers and "
    "group.id are needed.\n";

}  // namespace

std::string print(const Config& config) {
  Writer writer;
  writer.line(0, "kafka:");
  for (const auto& [key, setting] : config.kafka)
    writer.line(1, key + ": " + (setting.secret ? "\"*****\"" : yaml_scalar(setting.value)));
  const std::string handler(handler_of(config).name);
  bool handler_printed = !handler_of(config).properties().empty();
  for (const Property& property : properties()) {
    if (!handler_printed && property.name.starts_with("handler.")) {
      writer.line(0, "handler: " + handler);
      handler_printed = true;
    }
    if (applies(property, handler)) writer.write(property.name, property.print(config));
  }
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
    writer.write(property.name, property.example.empty() ? property.print(config) : property.example,
                 comment_of(property.description, property.expects), handler != "http");
  }
  return introduction + writer.take();
}

}  // namespace laneway::config
