#include "kafka/produce/request_watch.h"

#include <librdkafka/rdkafka.h>

namespace laneway::kafka {
namespace {

constexpr char interceptor[] = "laneway";
// API keys of Kafka's protocol. A late InitProducerId is not among them: it fences, and changes no
// transaction.
constexpr std::int16_t produce = 0;
constexpr std::int16_t add_partitions_to_txn = 24;
constexpr std::int16_t add_offsets_to_txn = 25;
constexpr std::int16_t end_txn = 26;
constexpr std::int16_t txn_offset_commit = 28;

/// Also called for requests that were given up: `error` has the reason.
rd_kafka_resp_err_t on_answer(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api, std::int16_t,
                              std::int32_t, std::size_t, std::int64_t, rd_kafka_resp_err_t error,
                              void* watch) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR__DESTROY)
    static_cast<RequestWatch*>(watch)->failed(api);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* watch, char*, std::size_t) {
  return rd_kafka_interceptor_add_on_response_received(client, interceptor, on_answer, watch);
}

}  // namespace

void RequestWatch::install(rd_kafka_conf_s* conf) {
  rd_kafka_conf_interceptor_add_on_new(conf, interceptor, on_new, this);
}

void RequestWatch::reset() {
  unanswered_.store(false);
  end_unanswered_.store(false);
}

void RequestWatch::failed(std::int16_t api) {
  if (api == end_txn) end_unanswered_.store(true);
  if (api == produce || api == add_partitions_to_txn || api == add_offsets_to_txn || api == end_txn ||
      api == txn_offset_commit)
    unanswered_.store(true);
}

}  // namespace laneway::kafka
