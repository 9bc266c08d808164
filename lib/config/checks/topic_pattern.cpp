#include "config/checks/topic_pattern.h"

#include <array>

namespace laneway::config {

TopicPattern::TopicPattern(const std::string& text) {
  auto regex = std::make_unique<regex_t>();
  const int fault = regcomp(regex.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (fault != 0) {
    std::array<char, 128> words{};
    regerror(fault, regex.get(), words.data(), words.size());
    error_ = words.data();
    return;
  }
  regex_ = std::shared_ptr<const regex_t>(regex.release(), [](const regex_t* compiled) {
    auto* owned = const_cast<regex_t*>(compiled);
    regfree(owned);
    delete owned;
  });
}

bool TopicPattern::finds(const std::string& topic) const {
  return regex_ && regexec(regex_.get(), topic.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace laneway::config
