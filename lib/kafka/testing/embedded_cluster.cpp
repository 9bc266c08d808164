#include "kafka/testing/embedded_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <vector>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

Status status(rd_kafka_resp_err_t code, const std::string& what) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return client_error(code, what);
}

std::int16_t api_key(EmbeddedCluster::Request request) {
  switch (request) {
    case EmbeddedCluster::Request::produce:
      return 0;
    case EmbeddedCluster::Request::fetch:
      return 1;
    case EmbeddedCluster::Request::list_offsets:
      return 2;
    case EmbeddedCluster::Request::offset_commit:
      return 8;
    case EmbeddedCluster::Request::offset_fetch:
      return 9;
    case EmbeddedCluster::Request::join_group:
      return 11;
    case EmbeddedCluster::Request::heartbeat:
      return 12;
    case EmbeddedCluster::Request::sync_group:
      return 14;
    case EmbeddedCluster::Request::add_partitions:
      return 24;
    case EmbeddedCluster::Request::send_offsets:
      return 28;
  }
  return -1;
}

rd_kafka_resp_err_t error_code(EmbeddedCluster::Request request, EmbeddedCluster::Failure failure) {
  switch (failure) {
    case EmbeddedCluster::Failure::unknown_member:
      return RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID;
    case EmbeddedCluster::Failure::rebalancing:
      return RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
    case EmbeddedCluster::Failure::outdated_epoch:
      return static_cast<rd_kafka_resp_err_t>(
          113);  // STALE_MEMBER_EPOCH, which librdkafka 2.0.2 does not name
    case EmbeddedCluster::Failure::too_large:
      return RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    case EmbeddedCluster::Failure::invalid_record:
      return RD_KAFKA_RESP_ERR_INVALID_RECORD;
    case EmbeddedCluster::Failure::denied:
      return RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    case EmbeddedCluster::Failure::out_of_order:
      return RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
    case EmbeddedCluster::Failure::fenced:
      return RD_KAFKA_RESP_ERR_PRODUCER_FENCED;
    case EmbeddedCluster::Failure::commit_too_large:
      return RD_KAFKA_RESP_ERR_UNKNOWN;
    case EmbeddedCluster::Failure::map_too_long:
      return RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE;
    case EmbeddedCluster::Failure::out_of_range:
      return RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    case EmbeddedCluster::Failure::moved:
      break;
  }
  const bool of_partition =
      request == EmbeddedCluster::Request::fetch || request == EmbeddedCluster::Request::produce;
  return of_partition ? RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION
                      : RD_KAFKA_RESP_ERR_NOT_COORDINATOR_FOR_GROUP;
}

}  // namespace

class EmbeddedCluster::Implementation {
 public:
  HandlePtr handle;  // owns the mock cluster's threads
  std::unique_ptr<rd_kafka_mock_cluster_t, Destroyer<rd_kafka_mock_cluster_destroy>> cluster;
};

EmbeddedCluster::EmbeddedCluster(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
EmbeddedCluster::~EmbeddedCluster() = default;

Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::start(int brokers) {
  auto conf = make_conf({});
  if (!conf) return conf.error();
  auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle) return handle.error();
  auto implementation = std::make_unique<Implementation>();
  implementation->handle = std::move(handle).value();
  implementation->cluster.reset(rd_kafka_mock_cluster_new(implementation->handle.get(), brokers));
  if (!implementation->cluster)
    return Error{ErrorKind::unavailable, "the embedded cluster does not start",
                 "it needs free loopback ports"};
  return std::unique_ptr<EmbeddedCluster>(new EmbeddedCluster(std::move(implementation)));
}

std::string EmbeddedCluster::bootstrap() const {
  return rd_kafka_mock_cluster_bootstraps(implementation_->cluster.get());
}

Status EmbeddedCluster::create_topic(const std::string& name, int partitions) {
  return status(rd_kafka_mock_topic_create(implementation_->cluster.get(), name.c_str(), partitions, 1),
                "creating topic " + name);
}

Status EmbeddedCluster::stop_broker(std::int32_t broker) {
  return status(rd_kafka_mock_broker_set_down(implementation_->cluster.get(), broker), "stopping a broker");
}

Status EmbeddedCluster::start_broker(std::int32_t broker) {
  return status(rd_kafka_mock_broker_set_up(implementation_->cluster.get(), broker), "starting a broker");
}

Status EmbeddedCluster::set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker) {
  return status(
      rd_kafka_mock_partition_set_leader(implementation_->cluster.get(), topic.c_str(), partition, broker),
      "moving a leader");
}

Status EmbeddedCluster::set_coordinator(const std::string& group, std::int32_t broker) {
  return status(rd_kafka_mock_coordinator_set(implementation_->cluster.get(), "group", group.c_str(), broker),
                "moving a coordinator");
}

Status EmbeddedCluster::set_transaction_coordinator(const std::string& transactional_id,
                                                    std::int32_t broker) {
  return status(rd_kafka_mock_coordinator_set(implementation_->cluster.get(), "transaction",
                                              transactional_id.c_str(), broker),
                "moving a coordinator of transactions");
}

Status EmbeddedCluster::set_latency(std::int32_t broker, int ms) {
  return status(rd_kafka_mock_broker_set_rtt(implementation_->cluster.get(), broker, ms),
                "setting a latency");
}

void EmbeddedCluster::fail_next(Request request, std::size_t count, Failure failure) {
  const std::vector<rd_kafka_resp_err_t> codes(count, error_code(request, failure));
  rd_kafka_mock_push_request_errors_array(implementation_->cluster.get(), api_key(request), count,
                                          codes.data());
}

void EmbeddedCluster::heal(Request request) {
  rd_kafka_mock_clear_request_errors(implementation_->cluster.get(), api_key(request));
}

Status EmbeddedCluster::delay_next(std::int32_t broker, Request request,
                                   const std::vector<milliseconds>& delays, std::optional<Failure> failure) {
  const auto answer = failure ? error_code(request, *failure) : RD_KAFKA_RESP_ERR_NO_ERROR;
  auto code = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (auto delay = delays.begin(); delay != delays.end() && code == RD_KAFKA_RESP_ERR_NO_ERROR; ++delay)
    code =
        rd_kafka_mock_broker_push_request_error_rtts(implementation_->cluster.get(), broker, api_key(request),
                                                     1, answer, static_cast<int>(delay->count()));
  return status(code, "delaying answers");
}

}  // namespace laneway::kafka
