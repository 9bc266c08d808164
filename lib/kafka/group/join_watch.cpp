#include "kafka/group/join_watch.h"

namespace laneway::kafka {
namespace {

constexpr const char* name = "laneway";
// https://kafka.apache.org/protocol#protocol_api_keys
constexpr std::int16_t join_group = 11;
constexpr std::int16_t heartbeat = 12;
constexpr std::int16_t sync_group = 14;

// Longer than a coordinator takes to answer a heartbeat, and than the client takes to begin a join that is
// due.
constexpr Duration patience = seconds(1);
// From an answer until the client has acted on it: a join after a heartbeat's answer; an assignment or a
// revocation after a SyncGroup's answer.
constexpr Duration reaction = milliseconds(50);
// From the answer to a JoinGroup until the SyncGroup has been sent: the leader distributes the partitions.
constexpr Duration distribution = milliseconds(200);

std::int64_t now_ns() { return SteadyClock::now().time_since_epoch().count(); }

}  // namespace

void JoinWatch::attach(rd_kafka_conf_t* conf) {
  (void)rd_kafka_conf_interceptor_add_on_new(conf, name, on_new, this);
}

bool JoinWatch::under_way() const {
  return request_.load(std::memory_order_acquire) ||
         now_ns() < expected_until_ns_.load(std::memory_order_acquire);
}

void JoinWatch::revocation_begins(bool incremental) {
  if (incremental) in_revocation_.store(true, std::memory_order_release);
  expected_until_ns_.store(0, std::memory_order_release);
}

void JoinWatch::subscribed() { expect_for(patience); }

void JoinWatch::revoked() {
  revoked_.store(true, std::memory_order_release);
  expect_for(patience);
}

void JoinWatch::assigned() {
  if (revoked_.exchange(false, std::memory_order_acq_rel)) expect_for(patience);
}

void JoinWatch::expect_for(Duration duration) {
  expected_until_ns_.store(now_ns() + duration.count(), std::memory_order_release);
}

rd_kafka_resp_err_t JoinWatch::on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* self, char*,
                                      std::size_t) {
  const auto code = rd_kafka_interceptor_add_on_request_sent(handle, name, on_request, self);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  return rd_kafka_interceptor_add_on_response_received(handle, name, on_response, self);
}

rd_kafka_resp_err_t JoinWatch::on_request(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                          std::int16_t, std::int32_t, std::size_t, void* self) {
  auto& watch = *static_cast<JoinWatch*>(self);
  if (api == heartbeat) watch.expect_for(patience);
  if (api == join_group) watch.joining_.store(true, std::memory_order_release);
  if (api == join_group && watch.in_revocation_.load(std::memory_order_acquire))
    watch.overtaken_.store(true, std::memory_order_release);
  if (api == join_group || api == sync_group) watch.request_.store(true, std::memory_order_release);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t JoinWatch::on_response(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                           std::int16_t, std::int32_t, std::size_t, std::int64_t,
                                           rd_kafka_resp_err_t error, void* self) {
  auto& watch = *static_cast<JoinWatch*>(self);
  if (api == heartbeat) watch.expect_for(reaction);
  if (api != join_group && api != sync_group) return RD_KAFKA_RESP_ERR_NO_ERROR;
  // No SyncGroup follows a JoinGroup that was refused or whose broker is gone.
  const bool goes_on = api == join_group && error == RD_KAFKA_RESP_ERR_NO_ERROR;
  watch.expect_for(goes_on ? distribution : reaction);
  if (api == sync_group) watch.joining_.store(false, std::memory_order_release);
  watch.request_.store(false, std::memory_order_release);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace laneway::kafka
