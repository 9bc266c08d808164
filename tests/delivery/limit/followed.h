// A server in virtual time whose caller follows a limit.
#pragma once

#include "delivery/limit/queueing_server.h"

namespace laneway::delivery::test {

class Followed {
 public:
  Followed(LimitKind kind, ServerModel model, std::uint32_t capacity, LimitBounds bounds)
      : limit(kind, bounds), server(model, capacity, limit.limit()) {
    server.observe([this](const EndedCalls& calls, TimePoint now) { follow(limit.ended(calls, now)); });
  }
  void follow(const std::optional<LimitChange>& change) {
    if (!change) return;
    last = *change;
    server.set_limit(change->to);
  }

  ConcurrencyLimit limit;
  QueueingServer server;
  LimitChange last;
};

}  // namespace laneway::delivery::test
