#include "kafka/testing/embedded_cluster.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <vector>

#include "kafka/client/handle.h"

namespace laneway::kafka {

void Release::operator()(rd_kafka_mock_cluster_t* cluster) const { rd_kafka_mock_cluster_destroy(cluster); }

EmbeddedCluster::EmbeddedCluster(HandlePtr handle, int brokers)
    : handle_(std::move(handle)), cluster_(rd_kafka_mock_cluster_new(handle_.get(), brokers)) {}

Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::start(int brokers) {
  auto conf = make_conf({});
  if (!conf) return conf.error();
  auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(conf).value());
  if (!handle) return handle.error();
  std::unique_ptr<EmbeddedCluster> cluster(new EmbeddedCluster(std::move(handle).value(), brokers));
  if (!cluster->cluster_)
    return Error{ErrorKind::unavailable, "the embedded cluster does not start",
                 "it needs free loopback ports"};
  return cluster;
}

std::string EmbeddedCluster::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(mock()); }

Status EmbeddedCluster::create_topic(const std::string& name, int partitions) {
  return to_status(rd_kafka_mock_topic_create(mock(), name.c_str(), partitions, 1), "creating topic " + name);
}

Status EmbeddedCluster::delay_next(std::int32_t broker, std::int16_t request,
                                   const std::vector<milliseconds>& delays, std::int16_t error) {
  auto code = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (auto delay = delays.begin(); delay != delays.end() && code == RD_KAFKA_RESP_ERR_NO_ERROR; ++delay)
    code = rd_kafka_mock_broker_push_request_error_rtts(mock(), broker, request, 1,
                                                        static_cast<rd_kafka_resp_err_t>(error),
                                                        static_cast<int>(delay->count()));
  return to_status(code, "delaying answers");
}

}  // namespace laneway::kafka
