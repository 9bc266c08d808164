// The settings of `handler.produce`; the .cpp file has all else that the configuration knows about this
// handler: its keys, its rules, its section of the reference. See handler_schema.h. Files with secrets are
// read when their keys are set; otherwise pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/client/client_setting.h"

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

/// `handler.produce`: writes each record to a topic; done when all in-sync replicas have it.
struct ProduceSettings {
  enum class Partition : std::uint8_t { by_key, keep };
  enum class Timestamp : std::uint8_t { keep, now };

  /// `{topic}` in it stands for the record's own topic.
  std::string topic;
  /// A record header that names the topic instead, one of `topics`; empty: none.
  std::string topic_header;
  /// The same by a text in the value, which is JSON: where it is (RFC 6901); empty: none.
  std::string topic_field;
  std::vector<std::string> topics;
  bool keep_key = true;
  /// A record header whose value is the key instead; empty: none.
  std::string key_header;
  /// The same by a text or a whole number in the value, as `topic_field`.
  std::string key_field;
  Partition partition = Partition::by_key;
  bool keep_headers = true;
  /// Other names for headers that are kept; an empty one: the header is left out.
  std::map<std::string, std::string> rename_headers;
  Timestamp timestamp = Timestamp::keep;
  /// Records are written, and their offsets committed, in transactions.
  bool transactional = false;
  /// A record that is not acknowledged so long is unavailable.
  Duration timeout = seconds(30);
  /// The producer's own client keys, beside and before those of `kafka`: another cluster, batching,
  /// compression.
  std::map<std::string, ClientSetting> client;

  bool other_cluster() const { return client.contains("bootstrap.servers"); }
};

/// The topic to which `produce` writes records that came from `topic` and do not name another one.
std::string output_topic(const ProduceSettings& produce, const std::string& topic);

HandlerSchemaOf<ProduceSettings> produce_schema();

}  // namespace laneway::config
