// Whether this member is joining its group at the moment, or may be about to.
//
// Why: the coordinator answers nothing else on the connection while a JoinGroup waits for the other members,
// and then the group has a new generation. A commit that was sent meanwhile fails with "illegal generation",
// and librdkafka before 2.10 takes that for the loss of the whole assignment. Under the cooperative protocol
// records go on being processed during a join, so this happened at nearly every rebalance. The client tells
// the application nothing of a join; its request interceptors do.
//
// A join lasts from its JoinGroup request to the SyncGroup answer; one that is refused is tried again after a
// pause, in which commits can be made. It begins when a heartbeat's answer calls for it (so the time of a
// heartbeat's exchange and a moment after are no time for a commit), under the eager protocol when a
// revocation has been answered, and under the cooperative one after an assignment that followed a revocation.
// Others (the number of partitions has changed) are rare and begin within microseconds; then a commit can
// still meet a join.
//
// Under the cooperative protocol a revocation is followed by an assignment, be it an empty one, and only then
// by a join. But when the client learns during a revocation that partitions were added, it joins at once.
// librdkafka (2.0.2 to 2.15.1 at least) then never clears what it keeps of the revocation, takes itself to be
// in the middle of a rebalance forever, and answers no later call to join: the group waits for
// max.poll.interval.ms. Only a new client helps.
//
// Ownership: outlives the client handle. Threads: the client's threads and the consumer's owner write, any
// may read. Nothing blocks.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>

#include "base/time.h"

namespace laneway::kafka {

class JoinWatch {
 public:
  /// Before the handle is made of `conf`.
  void attach(rd_kafka_conf_t* conf);
  /// From the first JoinGroup until the group has let this member in.
  bool joining() const { return joining_.load(std::memory_order_acquire); }
  /// A request of a join waits for its answer, or is about to be sent: no time for a commit.
  bool under_way() const;
  /// The client wants partitions back, in good order and under the cooperative protocol.
  void revocation_begins() { in_revocation_.store(true, std::memory_order_release); }
  /// The assignment has come that follows a revocation.
  void revocation_ends() { in_revocation_.store(false, std::memory_order_release); }
  /// Partitions were given back: a join follows, at once or after the next assignment.
  void revoked();
  void assigned();
  /// A join has begun before the assignment that follows a revocation: the client answers no further ones.
  bool overtaken() const { return overtaken_.load(std::memory_order_acquire); }

 private:
  static rd_kafka_resp_err_t on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* self, char*,
                                    std::size_t);
  static rd_kafka_resp_err_t on_request(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                        std::int16_t, std::int32_t, std::size_t, void* self);
  static rd_kafka_resp_err_t on_response(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                         std::int16_t, std::int32_t, std::size_t, std::int64_t,
                                         rd_kafka_resp_err_t, void* self);
  void expect_for(Duration duration);

  std::atomic<bool> joining_{false};
  std::atomic<bool> request_{false};  // JoinGroup or SyncGroup, on its way
  std::atomic<bool> in_revocation_{false};
  std::atomic<bool> overtaken_{false};
  std::atomic<bool> revoked_{false};
  std::atomic<std::int64_t> expected_until_ns_{0};  // a join may begin until then
};

}  // namespace laneway::kafka
