#include "mock_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

std::int16_t api_key(MockCluster::Request request) { return static_cast<std::int16_t>(request); }

rd_kafka_resp_err_t error_code(MockCluster::Request request, MockCluster::Failure failure) {
  const bool of_partition =
      request == MockCluster::Request::fetch || request == MockCluster::Request::produce;
  if (failure == MockCluster::Failure::moved && !of_partition)
    return RD_KAFKA_RESP_ERR_NOT_COORDINATOR_FOR_GROUP;
  return static_cast<rd_kafka_resp_err_t>(failure);
}

}  // namespace

Result<std::unique_ptr<MockCluster>> MockCluster::start(int brokers) {
  auto started = EmbeddedCluster::start(brokers);
  if (!started) return started.error();
  return std::unique_ptr<MockCluster>(new MockCluster(std::move(**started)));
}

Status MockCluster::stop_broker(std::int32_t broker) {
  return to_status(rd_kafka_mock_broker_set_down(mock(), broker), "stopping a broker");
}

Status MockCluster::start_broker(std::int32_t broker) {
  return to_status(rd_kafka_mock_broker_set_up(mock(), broker), "starting a broker");
}

Status MockCluster::set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker) {
  return to_status(rd_kafka_mock_partition_set_leader(mock(), topic.c_str(), partition, broker),
                   "moving a leader");
}

Status MockCluster::set_coordinator(const std::string& group, std::int32_t broker) {
  return to_status(rd_kafka_mock_coordinator_set(mock(), "group", group.c_str(), broker),
                   "moving a coordinator");
}

Status MockCluster::set_transaction_coordinator(const std::string& transactional_id, std::int32_t broker) {
  return to_status(rd_kafka_mock_coordinator_set(mock(), "transaction", transactional_id.c_str(), broker),
                   "moving a coordinator of transactions");
}

Status MockCluster::set_latency(std::int32_t broker, int ms) {
  return to_status(rd_kafka_mock_broker_set_rtt(mock(), broker, ms), "setting a latency");
}

void MockCluster::fail_next(Request request, std::size_t count, Failure failure) {
  const std::vector<rd_kafka_resp_err_t> codes(count, error_code(request, failure));
  rd_kafka_mock_push_request_errors_array(mock(), api_key(request), count, codes.data());
}

void MockCluster::heal(Request request) { rd_kafka_mock_clear_request_errors(mock(), api_key(request)); }

Status MockCluster::delay_next(std::int32_t broker, Request request, const std::vector<milliseconds>& delays,
                               std::optional<Failure> failure) {
  const auto answer = failure ? error_code(request, *failure) : RD_KAFKA_RESP_ERR_NO_ERROR;
  return EmbeddedCluster::delay_next(broker, api_key(request), delays, static_cast<std::int16_t>(answer));
}

}  // namespace laneway::kafka
