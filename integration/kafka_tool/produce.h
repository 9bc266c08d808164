// Verbs that write: plain and transactional load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kafka_tool {

struct Load {
  std::string topic;
  std::int64_t count = 0;  ///< records; 0: until SIGTERM
  std::size_t size = 100;  ///< bytes of each value
  std::size_t random = 0;  ///< characters of each value that compression makes no smaller than half
  double rate = 0;         ///< records a second; 0: as fast as it goes
  std::int64_t keys = 0;   ///< distinct keys; 0: each record has its own
  bool null_keys = false;
  std::string value;   ///< each value, with the record's number in place of {}; empty: `size` bytes
  std::string header;  ///< NAME: a header with the record's number; NAME=TEXT: with this text; empty: none
  std::vector<std::int32_t> partitions;  ///< only to these; empty: all
  bool one_in_flight = false;            ///< an acknowledgement is one also when brokers die
  std::string acks_file;                 ///< each acknowledged record as a JSON line; empty: none
};

/// Writes with acks=all and idempotence. A key always goes to the same partition; other records go round
/// robin. Prints per partition what was acknowledged (count, first, last offset) and a total. Returns how
/// many records failed.
std::int64_t produce(const std::string& bootstrap, const Load& load);

/// Writes transactions of `per_transaction` records, every `abort_every`-th of them aborted (0: none). Prints
/// totals; acknowledgements are of committed records only. The last transaction is committed unless its
/// number is due to abort.
std::int64_t produce_transactional(const std::string& bootstrap, const Load& load,
                                   std::int64_t per_transaction, std::int64_t abort_every);

}  // namespace kafka_tool
