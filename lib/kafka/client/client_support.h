// What the linked client library is and can do, of what differs between its releases and builds: the only
// place that knows its versions. Threads: any. Nothing blocks and nobody is contacted. Errors: configuration,
// and fatal for a library that is known to be unusable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

struct ClientLibrary {
  int version = 0;       ///< as rd_kafka_version() says: 0x020601ff is 2.6.1
  std::string features;  ///< as builtin.features says: names separated by commas
};

ClientLibrary linked_client();

/// Why no login by these settings, or no group of their protocol, can work with this library, and which one
/// can; nothing where it may.
std::optional<Error> unsupported(const ClientSettings& settings, const ClientLibrary& client);
/// What an operator should know about this library and these settings, one sentence each; an error where the
/// version is known to be unusable.
Result<std::vector<std::string>> version_warnings(const ClientSettings& settings,
                                                  const ClientLibrary& client = linked_client());
/// Whether fetch.queue.backoff.ms bounds how long a broker's thread sleeps on a full buffer. Where it does
/// not, a request to the broker wakes the thread.
bool has_queue_backoff(const ClientLibrary& client);

/// Whether the linked library accepts these settings, with the reason where it does not.
Status check_settings(const ClientSettings& settings);
std::string library_version();

}  // namespace laneway::kafka
