#include "config/yaml/settings_of_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/schema/names.h"
#include "config/text.h"

namespace laneway::config {
namespace {

const std::string one_piece =
    "expected one value; the client's keys are written in one piece, such as group.id: orders";

bool is_variable_name(std::string_view name) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         std::all_of(name.begin(), name.end(), word);
}

/// Walks the tree of a file down to the settings.
class Walk {
 public:
  Walk(const std::string& file, const Environment& environment, Problems& problems)
      : file_(file), environment_(environment), problems_(problems) {}

  void section(const std::string& path, const Node& map) {
    for (const Entry& entry : map.entries) visit(path, entry);
  }
  std::vector<Setting> take() { return std::move(found_); }

 private:
  SettingPlace at(Position position) const { return {Layer::file, file_, position}; }

  void visit(const std::string& section_path, const Entry& entry) {
    const std::string path = section_path.empty() ? entry.key : section_path + "." + entry.key;
    const bool client = section_path == "kafka";
    if (!client && entry.key.find('.') != entry.key.npos) {
      problems_.add(at(entry.position), path, "this key does not exist",
                    "names with dots are for kafka, --set and messages; in the file write nested keys");
    } else if (!client && is_section(path) && enter(path, entry)) {
      return;
    } else if (const auto objection = object_to(path)) {
      problems_.add(at(entry.position), path, objection->what,
                    client && entry.value.is_map() ? one_piece : objection->hint);
    } else if (client && !entry.value.is_scalar()) {
      problems_.add(at(entry.value.position), path, "found " + shown(entry.value), one_piece);
    } else {
      add(path, entry.value);
    }
  }

  /// A group of keys; false for a handler without settings, which is a value like others.
  bool enter(const std::string& path, const Entry& entry) {
    const bool may_be_value = path == "handler" || path.starts_with("handler.");
    if (entry.value.is_map() && !(may_be_value && entry.value.entries.empty())) {
      section(path, entry.value);
      return true;
    }
    if (may_be_value) return false;
    if (!entry.value.is_null() && !entry.value.is_map())
      problems_.add(at(entry.value.position), path, "found " + shown(entry.value),
                    "expected a group of keys below it");
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
  const Environment& environment_;
  Problems& problems_;
  std::vector<Setting> found_;
};

}  // namespace

Result<std::string> put_variables_in(const std::string& text, const Environment& environment) {
  const auto wrong = [](std::string what, std::string hint) {
    return Error{ErrorKind::configuration, std::move(what), std::move(hint)};
  };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 3, "$${") == 0) {
      out += "${";
      i += 3;
    } else if (text.compare(i, 2, "${") == 0) {
      const auto end = text.find('}', i);
      if (end == text.npos) return wrong("found ${ without its }", "${NAME}, or $${ for ${ itself");
      const auto name = text.substr(i + 2, end - i - 2);
      if (!is_variable_name(name))
        return wrong("found " + in_quotes(text.substr(i, end + 1 - i)) + ", which does not name a variable",
                     "${NAME}, or $${ for ${ itself");
      const auto found = environment.find(name);
      if (found == environment.end())
        return wrong("the environment has no variable " + name, "set it, or write $${ for ${ itself");
      out += found->second;
      i = end + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::vector<Setting> settings_of_file(const Node& root, const std::string& file,
                                      const Environment& environment, Problems& problems) {
  Walk walk(file, environment, problems);
  walk.section("", root);
  return walk.take();
}

}  // namespace laneway::config
