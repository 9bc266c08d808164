// The files with certificates, keys and key tables that a configuration names for its Kafka clients: what can
// be told of them before a broker is asked.
//
// Reads the files, which may block as long as the disk does. Threads: any.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace laneway::kafka {

struct KeyFileReport {
  std::vector<Error> errors;          ///< no connection can work with these
  std::vector<std::string> warnings;  ///< certificates that work, and will not for long
};

/// Of the consumer's client and of that of handler.produce.
KeyFileReport check_key_files(const config::Config& config, std::chrono::system_clock::time_point now);

/// Until when the clients' own certificates are valid, in seconds since 1970, by the file that holds them.
/// Left out are those that cannot be read.
std::map<std::string, double> certificate_ends(const config::Config& config);

}  // namespace laneway::kafka
