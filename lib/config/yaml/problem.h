// A setting as it was written: its name, its value and its place; and the list of problems with the settings.
//
// Problems are collected and not thrown: the user sees all of them at once, in the order of their places.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/yaml/document.h"

namespace laneway::config {

/// In the order of precedence: a later layer overrides an earlier one.
enum class Layer { file, environment, command_line };

struct SettingPlace {
  Layer layer = Layer::file;
  /// The file, the variable's name, or the dotted name after --set.
  std::string source;
  Position position;  ///< in the file; on the command line, `line` numbers the --set

  Origin text() const;
};

struct Setting {
  std::string path;  ///< dotted: lanes.workers, kafka.group.id
  Node value;
  SettingPlace place;
};

using Settings = std::map<std::string, Setting>;

/// The value for a message; never the content of a variable or of a secret.
std::string shown(const Node& value);
/// "found VALUE", with the reason `what` if it is not empty.
std::string found_message(const Node& value, const std::string& what);

class Problems {
 public:
  /// `key` may be empty. The error's kind follows from the place: usage for the command line, else
  /// configuration.
  void add(const SettingPlace& place, const std::string& key, const std::string& what, std::string hint);
  /// A file that cannot be read.
  void add_no_input(const SettingPlace& place, const std::string& what, std::string hint);

  /// Whether this key itself has a problem.
  bool about(const std::string& key) const;
  /// Whether this key or a key below it has a problem, or whether a misspelt key was probably meant to be
  /// this key or a group above it.
  bool concern(const std::string& key) const;

  std::size_t size() const { return problems_.size(); }
  bool empty() const { return problems_.empty(); }
  /// In the order of the places: the file by line, the file as a whole, the environment by name, the command
  /// line.
  std::vector<Error> sorted() const;

 private:
  struct Problem {
    SettingPlace place;
    std::string key;
    Error error;
  };
  std::vector<Problem> problems_;
};

}  // namespace laneway::config
