// Where settings are written, and the list of what is wrong with them.
//
// Problems are collected, not thrown: a person sees all of them at once, in the order of the places. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/yaml/document.h"

namespace laneway::config {

/// In the order of precedence: a later one overrides an earlier.
enum class Layer { file, environment, command_line };

struct SettingPlace {
  Layer layer = Layer::file;
  /// The file, the variable's name, or the dotted name after --set.
  std::string source;
  Position position;  ///< in the file; on the command line, `line` numbers the --set

  Origin text() const;
};

/// What a message says that was found: never a variable's or a secret's content.
std::string shown(const Node& value);

class Problems {
 public:
  /// `key` may be empty. The error's kind follows from the place: usage for the command line, else
  /// configuration.
  void add(const SettingPlace& place, const std::string& key, const std::string& what, std::string hint);
  /// A file that cannot be read.
  void add_no_input(const SettingPlace& place, const std::string& what, std::string hint);

  /// Is something wrong about this key or below it, or does a misspelt one stand for it or for a group above
  /// it?
  bool concern(const std::string& key) const;

  std::size_t size() const { return problems_.size(); }
  bool empty() const { return problems_.empty(); }
  /// In the order of the places: the file by line, what concerns the file as a whole, environment
  /// by name, command line.
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
