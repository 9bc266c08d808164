// The settings of `handler.produce`. The .cpp file has the rest of the handler's configuration: keys, rules,
// and the section of the reference. See handler_schema.h. Files with secrets are read when their keys are
// set; otherwise pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/client/client_setting.h"

namespace laneway::config {

struct HandlerSchema;

/// `handler.produce`: writes each record to a topic; a record is done when all in-sync replicas have it.
struct ProduceSettings {
  enum class Partition : std::uint8_t { by_key, keep };
  enum class Timestamp : std::uint8_t { keep, now };

  /// `{topic}` in it stands for the record's own topic.
  std::string topic;
  /// A record header that names the topic instead; empty if not configured. The topic must be in `topics`.
  std::string topic_header;
  /// The same for a text in a JSON value: the JSON pointer (RFC 6901) to the text; empty if not configured.
  std::string topic_field;
  std::vector<std::string> topics;
  bool keep_key = true;
  /// A record header whose value becomes the key; empty if not configured.
  std::string key_header;
  /// The same for a text or a whole number in a JSON value, as `topic_field`.
  std::string key_field;
  Partition partition = Partition::by_key;
  bool keep_headers = true;
  /// New names for headers; a header with an empty name is left out.
  std::map<std::string, std::string> rename_headers;
  Timestamp timestamp = Timestamp::keep;
  /// Records are written, and their offsets committed, in transactions.
  bool transactional = false;
  /// Time limit for the acknowledgement of a record; then the answer is unavailable.
  Duration timeout = seconds(30);
  /// The producer's own client keys, which override those of `kafka`: another cluster, batching, compression.
  std::map<std::string, ClientSetting> client;

  bool other_cluster() const { return client.contains("bootstrap.servers"); }
};

/// The topic to which `produce` writes records of `topic` that do not name another topic.
std::string output_topic(const ProduceSettings& produce, const std::string& topic);

HandlerSchema schema_of(const ProduceSettings&);

}  // namespace laneway::config
