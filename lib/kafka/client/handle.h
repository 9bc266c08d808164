// Owners for the client library's objects. Private to this module.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// Ends the life of an object by the client's own function.
template <auto Destroy>
struct Destroyer {
  template <class Object>
  void operator()(Object* object) const {
    Destroy(object);
  }
};

using EventPtr = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using ListPtr =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroyer<rd_kafka_topic_partition_list_destroy>>;
using ConfPtr = std::unique_ptr<rd_kafka_conf_t, Destroyer<rd_kafka_conf_destroy>>;
using ErrorPtr = std::unique_ptr<rd_kafka_error_t, Destroyer<rd_kafka_error_destroy>>;
using AdminOptionsPtr = std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
using TopicPtr = std::unique_ptr<rd_kafka_topic_t, Destroyer<rd_kafka_topic_destroy>>;

/// A configuration with the user's keys and the log callback. The error names the key that was refused, and
/// where the key was written. A login that the linked library does not support is refused too.
Result<ConfPtr> make_conf(const ClientSettings& settings);
/// The log callback of make_conf: writes one line to our log for each line of the library's log.
void pass_on_log(const rd_kafka_t* client, int level, const char* facility, const char* text);
/// Sets one of our own keys. Our own values are always valid.
void set_own(rd_kafka_conf_t* conf, const char* key, const std::string& value);
/// Sets a key that the user has not set.
void set_default(const ClientSettings& settings, rd_kafka_conf_t* conf, const char* key,
                 const std::string& value);
Result<HandlePtr> make_handle(rd_kafka_type_t type, ConfPtr conf);
/// Our own keys with their values.
using OwnKeys = std::initializer_list<std::pair<const char*, std::string>>;
/// A consumer that commits only on request; its queue of events is also the queue of the group. `prepare`
/// sets callbacks, and may be empty.
Result<HandlePtr> open_consumer(const ClientSettings& settings, OwnKeys keys,
                                const std::function<void(rd_kafka_conf_t*)>& prepare = {});

/// Whether a client of these settings that knows no brokers contacts nobody. Clients with Kerberos or OIDC
/// fetch a ticket or a token as soon as they exist.
bool makes_no_contact(const ClientSettings& settings);

ListPtr to_list(const std::vector<TopicPartition>& partitions);
ListPtr to_list(const TopicPartition& partition, std::int64_t offset);
/// All partitions of these topics, to subscribe to.
ListPtr to_list(const std::vector<std::string>& topics);
/// Includes the metadata of the offsets.
ListPtr to_list(const std::vector<CommittedOffset>& offsets);
std::vector<TopicPartition> from_list(const rd_kafka_topic_partition_list_t& list);
/// Offsets and metadata of an answer to a request for committed offsets.
std::vector<CommittedOffset> committed_offsets(const rd_kafka_topic_partition_list_t& list);
int to_ms(Duration duration);
/// The right that the user lacks if brokers refuse a request with `code`. nullptr if the code is not a
/// refusal of access.
const char* missing_right(rd_kafka_resp_err_t code);
/// Whether the error is temporary: the coordinator moves, starts, or cannot be reached at the moment.
bool passes(rd_kafka_resp_err_t code);
/// `words`, or the client's text for `code`; with the missing right if access is refused.
std::string error_text(rd_kafka_resp_err_t code, const char* words = nullptr);
Error group_denied(const std::string& group);
/// The value of a key; empty if the key is not set.
std::string setting_of(const ClientSettings& settings, const std::string& key);
/// Converts the client's error to ours. `what` is the action that failed.
Error client_error(rd_kafka_resp_err_t code, const std::string& what);
Status to_status(rd_kafka_resp_err_t code, const std::string& what);
Status to_status(const ErrorPtr& error, const std::string& what);
/// The status of the only partition of a call that returns one for each partition.
Status to_status(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t& list,
                 const std::string& what);

}  // namespace laneway::kafka
