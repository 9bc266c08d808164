// Notes requests of a transaction that were not answered: they timed out, or the connection was lost. Such a
// request may still be on its way, and the brokers treat it as a request of the next transaction if that
// transaction has the same producer epoch.
//
// Ownership: owned by the object that makes the client; the client must be gone first. Threads: one thread
// calls install() and reset(), while no client uses the watch; the other methods any. Nothing blocks.
#pragma once

#include <atomic>
#include <cstdint>

struct rd_kafka_conf_s;

namespace laneway::kafka {

class RequestWatch {
 public:
  /// Watches the clients that are made with these settings.
  void install(rd_kafka_conf_s* conf);
  /// Starts again for the next client.
  void reset();

  /// A request that writes, names partitions or offsets, commits or aborts went unanswered.
  bool unanswered() const { return unanswered_.load(); }
  /// A request that commits or aborts went unanswered: its outcome is unknown until it is answered after all.
  bool end_unanswered() const { return end_unanswered_.load(); }

  /// Called on the client's thread.
  void failed(std::int16_t api);

 private:
  std::atomic<bool> unanswered_{false};
  std::atomic<bool> end_unanswered_{false};
};

}  // namespace laneway::kafka
