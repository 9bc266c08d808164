// What an error of the client library means for a record to be written. Private to this folder. Pure.
#pragma once

#include <librdkafka/rdkafka.h>

#include "kafka/produce/producer.h"

namespace laneway::kafka {

/// `words`: the library's text, which the error repeats without "Local: " and "Broker: ". `alone`: the batch
/// had no other record. Brokers refuse a batch as a whole, so in a batch of several records it is not known
/// which record is too large or invalid.
Delivery failed_delivery(rd_kafka_resp_err_t code, const char* words, bool alone, std::int32_t partition);

}  // namespace laneway::kafka
