// Patterns under group.protocol: consumer, where the brokers find the topics and not the client.
//
// The client reads a pattern as a POSIX extended regular expression, the brokers read it as RE2/J. Topics
// must be the same under both protocols, so what the two read differently is refused before anything is
// started. Pure.
#pragma once

#include <string>

namespace laneway::config {

/// What is wrong with `pattern` for brokers; empty when they read it as the client does.
std::string check_broker_pattern(const std::string& pattern);

}  // namespace laneway::config
