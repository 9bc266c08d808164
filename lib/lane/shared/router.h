// Which pool a record goes to first, by the route of the configuration. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/pools.h"
#include "handler/record_batch.h"
#include "kafka/record.h"

namespace laneway::lane {

class Router {
 public:
  /// The routing of records to these pools; the route names only pools that exist. Without a selector every
  /// record goes to the pool `otherwise` or, if that is empty, to the first pool.
  Router(const config::RouteSettings& route, const std::vector<std::string>& pools);

  /// The place of the pool, which stays the same while the lane has the record.
  /// In turn by the record's number in the lane: offsets have gaps.
  std::size_t pool_of(const handler::Item& item) const;
  /// The same for a record of a route that looks at records.
  std::size_t pool_of(const kafka::Record& record) const;
  /// The same for the text that the selector has picked.
  std::size_t pool_of(std::string_view text) const;
  /// The pools that a record can go to first.
  const std::vector<std::size_t>& entries() const { return entries_; }

 private:
  struct Row {
    std::size_t number;  // of the row; the first row that matches decides
    std::size_t pool;
  };
  struct Prefix {
    std::string text;
    Row row;
  };

  const config::Selector by_;
  std::size_t otherwise_ = 0;
  std::map<std::string, Row, std::less<>> exact_;
  std::vector<Prefix> prefixes_;   // in their order
  std::vector<std::size_t> turn_;  // the pools that get the records one after the other
  std::vector<std::size_t> entries_;
};

}  // namespace laneway::lane
