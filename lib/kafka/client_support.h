// What the linked client library can do, of what differs between its releases and builds and decides whether
// a login can work. Private to this folder. Pure, but for linked_client.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

struct ClientLibrary {
  int version = 0;       ///< as rd_kafka_version() says: 0x020601ff is 2.6.1
  std::string features;  ///< as builtin.features says: names separated by commas
};

ClientLibrary linked_client();

/// Why no login by these settings can work with this library, and which one can; nothing where it may.
std::optional<Error> unsupported(const ClientSettings& settings, const ClientLibrary& client);

}  // namespace laneway::kafka
