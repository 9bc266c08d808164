// Notes requests of a transaction that were not answered: the time-out came, or the connection was lost. Such
// a request may still be on its way, and the brokers take it for one of the next transaction if that has the
// same producer epoch.
//
// Ownership: the one who makes the client, which must be gone first. Threads: install() and reset() one,
// while no client uses it; the rest any. Nothing blocks.
#pragma once

#include <atomic>
#include <cstdint>

struct rd_kafka_conf_s;

namespace laneway::kafka {

class RequestWatch {
 public:
  /// Clients that are made with these settings are watched.
  void install(rd_kafka_conf_s* conf);
  /// For the next client.
  void reset();

  /// A request that writes, names partitions or offsets, commits or aborts.
  bool unanswered() const { return unanswered_.load(); }
  /// One that commits or aborts: nobody knows whether that was done, until it is answered after all.
  bool end_unanswered() const { return end_unanswered_.load(); }

  /// For the client's thread.
  void failed(std::int16_t api);

 private:
  std::atomic<bool> unanswered_{false};
  std::atomic<bool> end_unanswered_{false};
};

}  // namespace laneway::kafka
