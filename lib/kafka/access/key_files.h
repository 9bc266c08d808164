// Checks the files with certificates, keys and key tables that a configuration names for its Kafka clients,
// before a broker is contacted.
//
// Reads the files, which may block for as long as the disk takes. Threads: any.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace laneway::kafka {

struct KeyFileReport {
  std::vector<Error> errors;          ///< problems that make every connection fail
  std::vector<std::string> warnings;  ///< certificates that work now and expire soon
};

/// Checks the files of the consumer's client and of the client of handler.produce.
KeyFileReport check_key_files(const config::Config& config, std::chrono::system_clock::time_point now);

/// Until when the clients' own certificates are valid, in seconds since 1970, by the file that contains the
/// certificate. Certificates that cannot be read are left out.
std::map<std::string, double> certificate_ends(const config::Config& config);

}  // namespace laneway::kafka
