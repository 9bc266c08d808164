#include "kafka/join_watch.h"

namespace laneway::kafka {
namespace {

constexpr const char* name = "laneway";
constexpr std::int16_t join_group = 11;
constexpr std::int16_t sync_group = 14;

}  // namespace

void JoinWatch::attach(rd_kafka_conf_t* conf) {
  (void)rd_kafka_conf_interceptor_add_on_new(conf, name, on_new, this);
}

rd_kafka_resp_err_t JoinWatch::on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* self, char*,
                                      std::size_t) {
  const auto code = rd_kafka_interceptor_add_on_request_sent(handle, name, on_request, self);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  return rd_kafka_interceptor_add_on_response_received(handle, name, on_response, self);
}

rd_kafka_resp_err_t JoinWatch::on_request(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                          std::int16_t, std::int32_t, std::size_t, void* self) {
  if (api == join_group) static_cast<JoinWatch*>(self)->joining_.store(true, std::memory_order_release);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t JoinWatch::on_response(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                           std::int16_t, std::int32_t, std::size_t, std::int64_t,
                                           rd_kafka_resp_err_t, void* self) {
  if (api == sync_group) static_cast<JoinWatch*>(self)->joining_.store(false, std::memory_order_release);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace laneway::kafka
