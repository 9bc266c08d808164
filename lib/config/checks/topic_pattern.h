// A pattern for the names of topics: a regular expression in POSIX extended syntax, which is found anywhere
// in a name unless ^ and $ say otherwise.
//
// laneway finds the topics of a pattern itself, under each group protocol (lane/member/topic_watch.h). Copies
// share the compiled expression. Threads: any. Pure.
#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace laneway::config {

class TopicPattern {
 public:
  explicit TopicPattern(const std::string& text);

  /// Why the text does not compile; empty if it does.
  const std::string& error() const { return error_; }
  /// False for every name if the text does not compile.
  bool finds(const std::string& topic) const;

 private:
  std::shared_ptr<const regex_t> regex_;
  std::string error_;
};

}  // namespace laneway::config
