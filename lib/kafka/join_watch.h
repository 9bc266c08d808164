// Whether this member is joining its group at the moment: from the JoinGroup request until the SyncGroup
// answer.
//
// Why: the coordinator answers nothing else on the connection while the join waits for the other members, and
// then the group has a new generation. A commit that was sent meanwhile fails with "illegal generation", and
// librdkafka before 2.10 takes that for the loss of the whole assignment. Under the cooperative protocol
// records go on being processed during a join, so this happened at nearly every rebalance. The client tells
// the application nothing of a join; its request interceptors do.
//
// Ownership: outlives the client handle. Threads: the client's threads write, any may read. Nothing blocks.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>

namespace laneway::kafka {

class JoinWatch {
 public:
  /// Before the handle is made of `conf`.
  void attach(rd_kafka_conf_t* conf);
  bool joining() const { return joining_.load(std::memory_order_acquire); }

 private:
  static rd_kafka_resp_err_t on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* self, char*,
                                    std::size_t);
  static rd_kafka_resp_err_t on_request(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                        std::int16_t, std::int32_t, std::size_t, void* self);
  static rd_kafka_resp_err_t on_response(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                         std::int16_t, std::int32_t, std::size_t, std::int64_t,
                                         rd_kafka_resp_err_t, void* self);

  std::atomic<bool> joining_{false};
};

}  // namespace laneway::kafka
