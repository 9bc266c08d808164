// What distinguishes the records that run in order among each other (`lanes.order`). Pure.
#pragma once

#include <cstdint>

#include "base/key_hash.h"
#include "config/config.h"
#include "handler/content.h"

namespace laneway::lane {

/// The same for all records that are ordered among each other; 0 for a record that has no order.
inline std::uint64_t order_key(const config::LaneSettings& lanes, const handler::Content& record) {
  if (lanes.order == config::Order::none) return 0;
  if (lanes.order == config::Order::partition) return 1;
  if (const auto key = record.key()) return key_hash(*key);
  return lanes.null_keys == config::NullKeys::ordered ? 1 : 0;
}

}  // namespace laneway::lane
