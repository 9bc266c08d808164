#include "kafka/testing/embedded_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <vector>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

std::int16_t api_key(EmbeddedCluster::Request request) { return static_cast<std::int16_t>(request); }

rd_kafka_resp_err_t error_code(EmbeddedCluster::Request request, EmbeddedCluster::Failure failure) {
  const bool of_partition =
      request == EmbeddedCluster::Request::fetch || request == EmbeddedCluster::Request::produce;
  if (failure == EmbeddedCluster::Failure::moved && !of_partition)
    return RD_KAFKA_RESP_ERR_NOT_COORDINATOR_FOR_GROUP;
  return static_cast<rd_kafka_resp_err_t>(failure);
}

}  // namespace

EmbeddedCluster::EmbeddedCluster(HandlePtr handle, int brokers)
    : handle_(std::move(handle)), cluster_(rd_kafka_mock_cluster_new(handle_.get(), brokers)) {}

EmbeddedCluster::~EmbeddedCluster() {
  if (cluster_ != nullptr) rd_kafka_mock_cluster_destroy(cluster_);
}

Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::start(int brokers) {
  auto conf = make_conf({});
  if (!conf) return conf.error();
  auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle) return handle.error();
  std::unique_ptr<EmbeddedCluster> cluster(new EmbeddedCluster(std::move(handle).value(), brokers));
  if (cluster->cluster_ == nullptr)
    return Error{ErrorKind::unavailable, "the embedded cluster does not start",
                 "it needs free loopback ports"};
  return cluster;
}

std::string EmbeddedCluster::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }

Status EmbeddedCluster::create_topic(const std::string& name, int partitions) {
  return to_status(rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1),
                   "creating topic " + name);
}

Status EmbeddedCluster::stop_broker(std::int32_t broker) {
  return to_status(rd_kafka_mock_broker_set_down(cluster_, broker), "stopping a broker");
}

Status EmbeddedCluster::start_broker(std::int32_t broker) {
  return to_status(rd_kafka_mock_broker_set_up(cluster_, broker), "starting a broker");
}

Status EmbeddedCluster::set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker) {
  return to_status(rd_kafka_mock_partition_set_leader(cluster_, topic.c_str(), partition, broker),
                   "moving a leader");
}

Status EmbeddedCluster::set_coordinator(const std::string& group, std::int32_t broker) {
  return to_status(rd_kafka_mock_coordinator_set(cluster_, "group", group.c_str(), broker),
                   "moving a coordinator");
}

Status EmbeddedCluster::set_transaction_coordinator(const std::string& transactional_id,
                                                    std::int32_t broker) {
  return to_status(rd_kafka_mock_coordinator_set(cluster_, "transaction", transactional_id.c_str(), broker),
                   "moving a coordinator of transactions");
}

Status EmbeddedCluster::set_latency(std::int32_t broker, int ms) {
  return to_status(rd_kafka_mock_broker_set_rtt(cluster_, broker, ms), "setting a latency");
}

void EmbeddedCluster::fail_next(Request request, std::size_t count, Failure failure) {
  const std::vector<rd_kafka_resp_err_t> codes(count, error_code(request, failure));
  rd_kafka_mock_push_request_errors_array(cluster_, api_key(request), count, codes.data());
}

void EmbeddedCluster::heal(Request request) {
  rd_kafka_mock_clear_request_errors(cluster_, api_key(request));
}

Status EmbeddedCluster::delay_next(std::int32_t broker, Request request,
                                   const std::vector<milliseconds>& delays, std::optional<Failure> failure) {
  const auto answer = failure ? error_code(request, *failure) : RD_KAFKA_RESP_ERR_NO_ERROR;
  auto code = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (auto delay = delays.begin(); delay != delays.end() && code == RD_KAFKA_RESP_ERR_NO_ERROR; ++delay)
    code = rd_kafka_mock_broker_push_request_error_rtts(cluster_, broker, api_key(request), 1, answer,
                                                        static_cast<int>(delay->count()));
  return to_status(code, "delaying answers");
}

}  // namespace laneway::kafka
