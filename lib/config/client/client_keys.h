// The client library's keys that users may set, and those that laneway refuses, with the reason.
//
// This is an allow-list: librdkafka has keys that run programs, load libraries or replace the brokers, and
// keys that would take control of commits or fetching. Names, ranges and meanings are those of librdkafka
// (CONFIGURATION.md, 2.0.2 to 2.x); `since` names the version for keys that 2.0.2 does not have. Only the
// kafka module knows whether the linked version has a key. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "config/client/client_setting.h"

namespace laneway::config {

struct ClientKey {
  enum class Type { text, whole_number, flag, choice };
  /// What the file contains that the key names. The last four are laneway's own.
  enum class File { none, authorities, revocations, certificate, private_key, key_store, key_table };

  std::string_view name;
  std::string_view description;
  Type type = Type::text;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view choices{};        ///< separated by spaces
  bool secret = false;               ///< never printed; <name>_file names a file with the secret
  std::string_view default_value{};  ///< laneway's own; empty if the library's applies
  std::string_view since{};
  bool consumer_only = false;  ///< a producer has no such key
  File file = File::none;
  bool credential = false;  ///< proves laneway's identity to one cluster

  /// A file with a key; refused if everyone may read the file.
  bool names_secret() const { return file >= File::private_key; }
  /// The right values: "a whole number from 1 to 3600000".
  std::string expects() const;
  /// Nullopt if the value is right, else the reason; an empty reason adds nothing to expects().
  std::optional<std::string> objection(std::string_view value) const;
};

/// laneway's own value of receive.message.max.bytes. Below 352,518,144 (15 03 00 00): the client takes the
/// first bytes of a TLS alert for the size of an answer, and notices by this limit that the other side speaks
/// TLS.
inline constexpr const char* default_receive_bytes = "350000000";

std::span<const ClientKey> client_keys();
/// Nullptr if the key is not on the list.
const ClientKey* find_client_key(std::string_view name);

/// Refused keys of the library, with the reason and the replacement.
struct RefusedClientKey {
  std::string_view names;  ///< separated by spaces; a * at an end stands for the rest
  std::string_view reason;
  std::string_view instead;  ///< empty if nothing replaces the key
};

std::span<const RefusedClientKey> refused_client_keys();
/// Nullptr if the key is not on the list.
const RefusedClientKey* find_refused_client_key(std::string_view name);

/// The key whose value is in the file that `name` names: ssl.key.password for ssl.key.password_file. The key
/// need not exist, or be a secret. Nullopt if `name` does not end with _file.
std::optional<std::string_view> key_in_file(std::string_view name);
inline constexpr std::string_view secret_file_suffix = "_file";

/// A key of laneway's producers, which consumers may have, too; nullptr for any other key. laneway itself
/// sets acknowledgement and idempotence.
const ClientKey* find_producer_key(std::string_view name);

/// The library's keys with their values.
using ClientSettings = std::map<std::string, ClientSetting>;

/// The settings of a producer's client: its own, and those of the consumer that producers have too. A
/// producer with bootstrap.servers of its own writes to another cluster, and gets no credentials of the first
/// cluster.
ClientSettings client_of_producer(const ClientSettings& consumer, const ClientSettings& own);

/// How long a request to a broker may take.
Duration request_timeout(const ClientSettings& client);
/// How often the topics of a pattern are looked up; Duration::max() if only at the start.
Duration topic_look_up_interval(const ClientSettings& client);

}  // namespace laneway::config
