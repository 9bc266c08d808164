// The subscribers of webhooks, as a file lists them (handler.fan_out.subscribers, handler.http.subscribers):
//
//   - name: billing                          # letters, digits and . _ -; names the sub-job
//     url: https://billing.example/hooks
//     secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw    # or a list: each of them signs
//     # secret_file: billing.secret          # instead of secret; relative to the folder of this file
//     events: [order.created, "invoice.*"]   # default: every event
//     enabled: true
//
// The file is read anew while the service runs, so it is not a part of the Config. Reads files; otherwise
// pure. Callable from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laneway::config {

struct Subscriber {
  std::string name;
  std::string url;
  std::vector<std::string> secrets;  ///< bytes of the keys, decoded; secret; empty if not signed
  std::vector<std::string> events;   ///< exact texts, or beginnings followed by *; empty for every event
  bool enabled = true;

  /// Whether the subscriber gets an event of this type; nullopt: the event has none.
  bool wants(std::optional<std::string_view> event) const;
};

/// The most subscribers in a file.
inline constexpr std::size_t most_subscribers = 1000;

/// In the order of the file. Errors: configuration, with the file, the line and the key; no_input if the file
/// cannot be read. A file with secrets that everyone may read is refused, as are a file without content, a
/// name that occurs twice and any unknown key.
Result<std::vector<Subscriber>> read_subscribers(const std::string& path);

/// The bytes of a secret: base64 after whsec_, 24 to 64 bytes. Error: configuration; never shows the secret.
Result<std::string> parse_webhook_secret(std::string_view text);

}  // namespace laneway::config
