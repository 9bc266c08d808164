// Whether this member is joining its group at the moment, or may be about to.
//
// Why: the coordinator sends no other answer on the connection while a JoinGroup waits for the other members,
// and afterwards the group has a new generation. A commit that was sent in the meantime fails with "illegal
// generation", and librdkafka before 2.10 treats that as the loss of the whole assignment. Under an
// incremental protocol records are processed during a join, so this happened at nearly every rebalance. The
// client does not report a join to the application; its request interceptors do.
//
// A join lasts from its JoinGroup request to the SyncGroup answer. A join that is refused is tried again
// after a pause, in which commits can be made. A join begins when a heartbeat's answer asks for it (so
// nothing may be committed during the exchange of a heartbeat and for a moment after). It also begins when a
// revocation has been answered (eager protocol), after an assignment that followed a revocation (incremental
// protocol), or after a new subscription. Other joins (the number of partitions has changed) are rare and
// begin within microseconds; a commit can still meet such a join.
//
// Under an incremental protocol a revocation is followed by an assignment, which may be empty, and only then
// by a join. But when the client learns during a revocation that partitions were added, it joins at once.
// librdkafka (at least 2.0.2 to 2.15.1) then never clears its state of the revocation, believes forever that
// a rebalance is under way, and ignores all later requests to join: the group waits for max.poll.interval.ms.
// Only a new client helps.
//
// Ownership: must outlive the client handle. Threads: the client's threads and the consumer's owner write,
// any thread may read. Nothing blocks.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>

#include "base/time.h"

namespace laneway::kafka {

class JoinWatch {
 public:
  /// Must be called before the handle is made with `conf`.
  void attach(rd_kafka_conf_t* conf);
  /// True from the first JoinGroup until the group has admitted this member.
  bool joining() const { return joining_.load(std::memory_order_acquire); }
  /// A request of a join waits for its answer, or is about to be sent. Do not commit now.
  bool under_way() const;
  /// The client asks for partitions back, in good order. It has acted on the answer that the last requests
  /// got, and waits for the partitions.
  void revocation_begins(bool incremental);
  /// The assignment that follows a revocation has come.
  void revocation_ends() { in_revocation_.store(false, std::memory_order_release); }
  /// Other topics were subscribed to. A join follows at once.
  void subscribed();
  /// Partitions were given back. A join follows, at once or after the next assignment.
  void revoked();
  void assigned();
  /// A join began before the assignment that follows a revocation. The client will ignore all further joins.
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
  std::atomic<bool> request_{false};  // a JoinGroup or SyncGroup is on its way
  std::atomic<bool> in_revocation_{false};
  std::atomic<bool> overtaken_{false};
  std::atomic<bool> revoked_{false};
  std::atomic<std::int64_t> expected_until_ns_{0};  // a join may begin until then
};

}  // namespace laneway::kafka
