// What the linked client library can do, as far as its releases and builds differ. Which releases have a
// group protocol: config/client/group_protocol.h. Threads: any. Nothing blocks, and no broker is contacted.
// Errors: configuration, and fatal for a release that is known to be unusable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

struct ClientLibrary {
  int version = 0;       ///< as rd_kafka_version() returns it: 0x020601ff is 2.6.1
  std::string features;  ///< as builtin.features lists them: names separated by commas
};

ClientLibrary linked_client();

/// Why a login with these settings, or a group of their protocol, cannot work with this library, and which
/// library can do it. nullopt if it may work.
std::optional<Error> unsupported(const ClientSettings& settings, const ClientLibrary& client);
/// Warnings about this library with these settings, one sentence each. An error if the release is known to be
/// unusable.
Result<std::vector<std::string>> version_warnings(const ClientSettings& settings,
                                                  const ClientLibrary& client = linked_client());
/// Whether fetch.queue.backoff.ms bounds how long a broker's thread sleeps on a full buffer. Without this
/// bound, a request to the broker wakes the thread.
bool has_queue_backoff(const ClientLibrary& client);

/// Checks that the linked library accepts these settings; the error has the reason.
Status check_settings(const ClientSettings& settings);
std::string library_version();

/// Whether an error says only that no answer came in time, in the words of the client or of a broker.
bool is_timeout(const Error& error);

}  // namespace laneway::kafka
