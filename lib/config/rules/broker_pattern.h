// Patterns with group.protocol: consumer, where the brokers and not the client match the topics.
//
// The client compiles a pattern as a POSIX extended regular expression, the brokers as RE2/J. Both protocols
// must match the same topics, so syntax that the two read differently is refused before anything starts.
// Pure.
#pragma once

#include <string>

namespace laneway::config {

/// Why brokers would match other topics than the client; empty if both match the same.
std::string check_broker_pattern(const std::string& pattern);

}  // namespace laneway::config
