// Names in the headers of a dead letter; only for the files of this folder that write and read them.
#pragma once

#include <string_view>

#include "delivery/dead_letter/dead_letter.h"

namespace laneway::delivery {

/// The name that Java's TimestampType prints.
std::string_view name(TimestampType type);
/// The value with this name, or the value for "not known".
DeadLetterReason reason_named(std::string_view name);
TimestampType timestamp_type_named(std::string_view name);

}  // namespace laneway::delivery

namespace laneway::delivery::header {

inline constexpr std::string_view spring_prefix = "kafka_dlt-";
inline constexpr std::string_view spring_topic = "kafka_dlt-original-topic";
inline constexpr std::string_view spring_partition = "kafka_dlt-original-partition";
inline constexpr std::string_view spring_offset = "kafka_dlt-original-offset";
inline constexpr std::string_view spring_timestamp = "kafka_dlt-original-timestamp";
inline constexpr std::string_view spring_timestamp_type = "kafka_dlt-original-timestamp-type";
inline constexpr std::string_view spring_group = "kafka_dlt-original-consumer-group";
inline constexpr std::string_view spring_exception = "kafka_dlt-exception-fqcn";
inline constexpr std::string_view spring_message = "kafka_dlt-exception-message";
inline constexpr std::string_view spring_stacktrace = "kafka_dlt-exception-stacktrace";
inline constexpr std::string_view spring_key_exception = "kafka_dlt-key-exception-fqcn";
inline constexpr std::string_view spring_key_message = "kafka_dlt-key-exception-message";

inline constexpr std::string_view connect_prefix = "__connect.errors.";
inline constexpr std::string_view connect_topic = "__connect.errors.topic";
inline constexpr std::string_view connect_partition = "__connect.errors.partition";
inline constexpr std::string_view connect_offset = "__connect.errors.offset";
inline constexpr std::string_view connect_connector = "__connect.errors.connector.name";
inline constexpr std::string_view connect_task = "__connect.errors.task.id";
inline constexpr std::string_view connect_stage = "__connect.errors.stage";
inline constexpr std::string_view connect_class = "__connect.errors.class.name";
inline constexpr std::string_view connect_exception = "__connect.errors.exception.class.name";
inline constexpr std::string_view connect_message = "__connect.errors.exception.message";
inline constexpr std::string_view connect_stacktrace = "__connect.errors.exception.stacktrace";

inline constexpr std::string_view own_prefix = "laneway-";
inline constexpr std::string_view reason = "laneway-reason";
inline constexpr std::string_view attempts = "laneway-attempts";
inline constexpr std::string_view first_failure = "laneway-first-failure";
inline constexpr std::string_view redrives = "laneway-redrives";
inline constexpr std::string_view truncated = "laneway-truncated";
inline constexpr std::string_view key_truncated = "laneway-key-truncated";
inline constexpr std::string_view dropped_headers = "laneway-dropped-headers";
inline constexpr std::string_view timestamp = "laneway-original-timestamp";
inline constexpr std::string_view timestamp_type = "laneway-original-timestamp-type";
inline constexpr std::string_view group = "laneway-original-consumer-group";

}  // namespace laneway::delivery::header
