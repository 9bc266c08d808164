// The client library's keys that an operator may set. Those that laneway refuses are in
// refused_client_keys.h.
//
// An allow-list: librdkafka has keys that run programs, load libraries or replace the brokers, and keys that
// would take commits or fetching out of laneway's hands. Names, ranges and meanings are librdkafka's
// (CONFIGURATION.md, 2.0.2 to 2.x); `since` names the version for keys that 2.0.2 does not have. Whether the
// linked version has a key is known to the kafka module alone. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"

namespace laneway::config {

struct ClientKey {
  enum class Type { text, whole_number, flag, choice };

  std::string_view name;
  std::string_view description;
  Type type = Type::text;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view choices;        ///< separated by spaces
  bool secret = false;             ///< never printed; may come from a file by <name>_file
  std::string_view default_value;  ///< laneway's own; empty: the library's
  std::string_view since;
  bool consumer_only = false;  ///< a producer has no such key
  bool names_secret = false;   ///< a file with a key in it, which not everyone may read
  bool credential = false;     ///< proves who laneway is, to one cluster

  /// What a right value is: "a whole number from 1 to 3600000".
  std::string expects() const;
  /// Nothing when the value is right, else why not, where that adds to expects().
  std::optional<std::string> objection(std::string_view value) const;
};

std::span<const ClientKey> client_keys();
/// Nullptr when the key is not on the list.
const ClientKey* find_client_key(std::string_view name);

/// The key whose value the file named by `name` holds: ssl.key.password of ssl.key.password_file. It need not
/// exist, or be a secret. Nothing for a name that does not end so.
std::optional<std::string_view> key_in_file(std::string_view name);
inline constexpr std::string_view secret_file_suffix = "_file";

/// Keys that only producers have, for what laneway writes with; acknowledgement and idempotence are laneway's
/// own.
std::span<const ClientKey> producer_keys();
/// A key that a producer may be given, one of its own or of those that both have; nullptr for any other.
const ClientKey* find_producer_key(std::string_view name);

/// The library's keys with their values.
using ClientSettings = std::map<std::string, ClientSetting>;

/// What a producer's client is made of: its own settings, and those of the consumer that a producer has as
/// well. With bootstrap.servers of its own it is one of another cluster, which is shown no credential of the
/// first.
ClientSettings client_of_producer(const ClientSettings& consumer, const ClientSettings& own);

/// How long a request to a broker may take.
Duration request_timeout(const ClientSettings& client);

}  // namespace laneway::config
