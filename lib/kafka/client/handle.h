// Owners for the client library's objects. Private to this folder.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

struct QueueDeleter {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
struct EventDeleter {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
struct ListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
struct ConfDeleter {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
struct ErrorDeleter {
  void operator()(rd_kafka_error_t* error) const { rd_kafka_error_destroy(error); }
};
struct MetadataDeleter {
  void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
};
struct HandleDeleter {
  void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
};

using QueuePtr = std::unique_ptr<rd_kafka_queue_t, QueueDeleter>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, EventDeleter>;
using ListPtr = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDeleter>;
using ConfPtr = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;
using ErrorPtr = std::unique_ptr<rd_kafka_error_t, ErrorDeleter>;
using MetadataPtr = std::unique_ptr<const rd_kafka_metadata_t, MetadataDeleter>;
using HandlePtr = std::unique_ptr<rd_kafka_t, HandleDeleter>;

/// A configuration with the user's keys and the log callback set; which key was refused, and where it was
/// written. Also refused is a login that the linked library cannot do.
Result<ConfPtr> make_conf(const ClientSettings& settings);
/// The log callback of make_conf: a line of our log for each of the library's.
void pass_on_log(const rd_kafka_t* client, int level, const char* facility, const char* text);
/// Sets one of our own keys; our own values are always right.
void set_own(rd_kafka_conf_t* conf, const char* key, const std::string& value);
Result<HandlePtr> make_handle(rd_kafka_type_t type, ConfPtr conf);

/// Whether a client of these settings that knows no brokers asks nobody: Kerberos and OIDC fetch a ticket or
/// a token as soon as there is a client.
bool makes_no_contact(const ClientSettings& settings);

ListPtr to_list(const std::vector<TopicPartition>& partitions);
/// With their metadata.
ListPtr to_list(const std::vector<CommittedOffset>& offsets);
std::vector<TopicPartition> from_list(const rd_kafka_topic_partition_list_t& list);
/// Offsets and metadata of an answer to a request for committed offsets.
std::vector<CommittedOffset> committed_offsets(const rd_kafka_topic_partition_list_t& list);
int to_ms(Duration duration);
/// What the user lacks when brokers refuse a request with `code`; nullptr when it is no refusal of access.
const char* missing_right(rd_kafka_resp_err_t code);
/// The coordinator moves, begins, or cannot be reached at the moment.
bool passes(rd_kafka_resp_err_t code);
/// `words` or the client's own for `code`, with what is missing where it is a refusal.
std::string error_text(rd_kafka_resp_err_t code, const char* words = nullptr);
Error group_denied(const std::string& group);
/// The value of a key, or nothing.
std::string setting_of(const ClientSettings& settings, const std::string& key);
/// The client's error as ours; what went wrong while doing `what`.
Error client_error(rd_kafka_resp_err_t code, const std::string& what);

}  // namespace laneway::kafka
