#include "config/load/settings_of_file.h"

#include <string_view>
#include <utility>

#include "config/pools/pool_path.h"
#include "config/schema/names.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "config/yaml/layout.h"
#include "config/yaml/lines.h"

namespace laneway::config {
namespace {

const std::string one_piece =
    "expected one value; keys of the Kafka client are written with their dots, such as group.id: orders";

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digits(name.substr(0, 1)) && is_word(name, "_");
}

/// `text` with each ${NAME} replaced from `environment`; $${ stands for ${. Not recursive.
Result<std::string> put_variables_in(const std::string& text, const EnvironmentVariables& environment) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 3, "$${") == 0) {
      out += "${";
      i += 3;
    } else if (text.compare(i, 2, "${") == 0) {
      const auto end = text.find('}', i);
      if (end == text.npos)
        return wrong_value("found ${ without a closing }", "write ${NAME}, or $${ for ${ itself");
      const auto name = text.substr(i + 2, end - i - 2);
      if (!is_variable_name(name))
        return wrong_value(
            "found " + in_quotes(text.substr(i, end + 1 - i)) + ", which is not the name of a variable",
            "write ${NAME}, or $${ for ${ itself");
      const auto found = environment.find(name);
      if (found == environment.end())
        return wrong_value("the environment has no variable " + name,
                           "set the variable, or write $${ for ${ itself");
      out += found->second;
      i = end + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

/// Walks the tree of a file down to the settings.
class Walk {
 public:
  Walk(const std::string& file, const EnvironmentVariables& environment, Problems& problems)
      : file_(file), environment_(environment), problems_(problems) {}

  void section(const std::string& path, const Node& map) {
    empty_group_ = nullptr;
    for (const Entry& entry : map.entries) {
      visit(path, entry);
      if (entry.value.is_null() && is_section(path_in(path, entry.key))) empty_group_ = &entry;
      if (entry.value.is_map()) empty_group_ = nullptr;
    }
    empty_group_ = nullptr;
  }
  /// The whole file.
  void root(const Node& map) {
    for (const Entry& entry : map.entries) {
      if (entry.key != "handler") continue;
      if (entry.value.is_scalar()) handler_ = entry.value.text;
      if (!entry.value.entries.empty()) handler_ = entry.value.entries.front().key;
    }
    section("", map);
  }
  std::vector<Setting> take() { return std::move(found_); }

 private:
  SettingPlace at(Position position) const { return {Layer::file, file_, position}; }

  void visit(const std::string& section_path, const Entry& entry) {
    const std::string path = path_in(section_path, entry.key);
    const bool client = section_path == "kafka";
    if (misses_space(section_path, entry.key, entry.position, entry.value.is_null()) ||
        misses_hyphens_space(path, entry.value))
      return;
    if (section_path == "pools" && !add_pool(path, entry)) return;
    if (!client && entry.key.find('.') != entry.key.npos) {
      problems_.add(at(entry.position), path, unknown_key, hint_for_dots(path));
    } else if (!client && is_section(path) && enter(path, entry)) {
      return;
    } else if (const auto objection = object_to(path)) {
      problems_.add(at(entry.position), path, objection->what,
                    client && entry.value.is_map() ? one_piece : hint_for(section_path, entry, *objection));
    } else if (client && !entry.value.is_scalar()) {
      problems_.add(at(entry.value.position), path, "found " + shown(entry.value),
                    entry.value.is_list() && entry.key == "bootstrap.servers" ? one_text(entry) : one_piece);
    } else {
      add(path, entry.value);
    }
  }

  /// Notes that the file names this pool; false if it may not have this name.
  bool add_pool(const std::string& path, const Entry& entry) {
    auto what = check_pool_name(entry.key);
    if (what.empty()) {
      found_.push_back({path, Node{}, at(entry.position)});
      return true;
    }
    problems_.add(at(entry.position), path, what, "such as critical, or free-tier");
    return false;
  }

  /// Several brokers are one text to the client.
  static std::string one_text(const Entry& entry) {
    std::vector<std::string> items;
    for (const Node& item : entry.value.items) items.push_back(item.text);
    return "expected one text, with commas; write " + entry.key + ": " + yaml_scalar(join(items, ","));
  }

  static std::string path_in(const std::string& section, const std::string& key) {
    return section.empty() ? key : section + "." + key;
  }

  static std::string hint_for_dots(const std::string& path) {
    const auto other = object_to(path);
    if (other && !other->meant.empty() && below(other->meant, "kafka")) return other->hint;
    return "in the file, write nested keys; names with dots are for --set and for the keys below kafka";
  }

  /// "workers:16" is one word to YAML. `alone`: no value follows; if one does, the word begins with a known
  /// key.
  bool misses_space(const std::string& section_path, const std::string& text, Position position, bool alone) {
    const auto key = key_without_space(text);
    if (!key) return false;
    const auto path = path_in(section_path, text.substr(0, *key));
    if (!alone && !is_section(path) && object_to(path)) return false;
    if (position.line > 0) position.column += static_cast<int>(*key) + 1;
    problems_.add(at(position), path, "the space after the colon is missing",
                  "write a space after " + text.substr(0, *key) + ":");
    return true;
  }

  /// "workers:16" or "workers 16", where a group of keys is expected.
  bool is_line_of_group(const std::string& path, const Node& value) {
    if (misses_space(path, value.text, value.position, true)) return true;
    const auto key = value.text.substr(0, value.text.find_first_of(" ="));
    if (key == value.text || find_property(path_in(path, key)) == nullptr) return false;
    problems_.add(at(value.position), path_in(path, key), "the colon after the key is missing",
                  "write " + printable(key) + ": and the value");
    return true;
  }

  /// "-orders" is a text to YAML.
  bool misses_hyphens_space(const std::string& path, const Node& value) {
    const Property* property = find_property(path);
    if (property == nullptr || !property->list || !value.is_scalar() || !hyphen_without_space(value.text))
      return false;
    const auto fault = hyphen_fault(value.position);
    problems_.add(at(fault.position), path, fault.what, fault.hint);
    return true;
  }

  /// Suggestions name the keys of http; the handler of this file may have such a key too.
  std::optional<std::string> of_this_handler(const std::string& meant) const {
    constexpr std::string_view http = "handler.http.";
    if (!meant.starts_with(http)) return std::nullopt;
    auto key = "handler." + handler_ + "." + meant.substr(http.size());
    return find_property(key) == nullptr ? std::nullopt : std::optional(std::move(key));
  }

  /// A key right below an empty group that has this key was meant to be in the group.
  std::string hint_for(const std::string& section_path, const Entry& entry,
                       const Objection& objection) const {
    if (const auto key = of_this_handler(objection.meant)) return "did you mean " + *key + "?";
    if (empty_group_ == nullptr) return objection.hint;
    const auto path = path_in(path_in(section_path, empty_group_->key), entry.key);
    if (!is_section(path) && object_to(path)) return objection.hint;
    return "indent it to put it into " + empty_group_->key + ", line " +
           std::to_string(empty_group_->position.line);
  }

  /// A group of keys; false for a handler without settings, which is a value like others.
  bool enter(const std::string& path, const Entry& entry) {
    const auto name = schema_name(path);
    const bool may_be_value = is_handler(name);
    if (entry.value.is_map() && !(may_be_value && entry.value.entries.empty())) {
      section(path, entry.value);
      return true;
    }
    if (may_be_value)
      return entry.value.is_scalar() && misses_space(path, entry.value.text, entry.value.position, true);
    const bool filled = !entry.value.is_null() && !entry.value.is_map();
    if (filled && !(entry.value.is_scalar() && is_line_of_group(path, entry.value)))
      problems_.add(at(entry.value.position), path, "found " + shown(entry.value),
                    "expected a group of keys, indented below this key");
    return true;
  }

  void add(const std::string& path, Node value) {
    if (put_in(path, value)) found_.push_back({path, value, at(value.position)});
  }

  bool put_in(const std::string& path, Node& node) {
    bool good = true;
    for (Node& item : node.items) good = put_in(path, item) && good;
    for (Entry& entry : node.entries) good = put_in(path, entry.value) && good;
    if (!node.is_scalar() || node.text.find("${") == node.text.npos) return good;
    auto text = put_variables_in(node.text, environment_);
    if (!text) {
      problems_.add(at(node.position), path, text.error().message, text.error().hint);
      return false;
    }
    node.written = std::exchange(node.text, std::move(text).value());
    return good;
  }

  const std::string& file_;
  const EnvironmentVariables& environment_;
  Problems& problems_;
  std::vector<Setting> found_;
  std::string handler_;
  const Entry* empty_group_ = nullptr;  ///< the last one of the map that is walked
};

}  // namespace

std::vector<Setting> settings_of_file(const Node& root, const std::string& file,
                                      const EnvironmentVariables& environment, Problems& problems) {
  Walk walk(file, environment, problems);
  walk.root(root);
  return walk.take();
}

}  // namespace laneway::config
