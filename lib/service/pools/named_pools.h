// The parts of the named pools that all lanes of the service share: for each pool a handler, a downstream
// with its breaker, a rate, the limits of its subscribers; and the routing of records. Private to this
// folder.
//
// Ownership: the service owns it, and it outlives the lanes. Threads: made before the members start; then
// any. change() and settle() block on short mutexes only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "lane/shared/lane_context.h"
#include "pool/permits.h"

namespace laneway::service {

/// The rules of a downstream with this breaker.
lane::DownstreamRules rules_of(const config::Breaker& breaker, const config::Config& config);

class NamedPools {
 public:
  /// `own`: the work that the program does itself, for the pools without a handler; null if it has none.
  /// Empty if the configuration has no pools. Errors: as make_handler().
  static Result<NamedPools> make(const config::Config& config, handler::Handler* own);

  bool empty() const { return parts_.empty(); }
  std::size_t size() const { return parts_.size(); }
  const std::string& name(std::size_t pool) const { return parts_[pool]->name; }
  handler::Handler& handler(std::size_t pool) const { return *parts_[pool]->handler; }
  lane::Downstream& downstream(std::size_t pool) const { return *parts_[pool]->downstream; }
  lane::RateLimiter& rate(std::size_t pool) const { return *parts_[pool]->rate; }
  /// Null if the number of workers is fixed.
  lane::AdaptiveLimit* adaptive(std::size_t pool) const { return parts_[pool]->adaptive.get(); }
  /// Null if the pool has no subscribers.
  lane::Subscribers* subscribers(std::size_t pool) const { return parts_[pool]->subscribers.get(); }

  /// For LaneContext::pools, with these settings.
  std::vector<lane::NamedPool> for_lanes(const config::Config& config) const;
  const lane::Router* router() const { return router_.get(); }

  /// Puts other sizes, rates and breakers in force; the pools have the same names.
  void change(const config::Config& wanted, TimePoint now);
  /// To be called once a second (Downstream::settle).
  void settle(TimePoint now);
  /// Why a handler has failed permanently.
  std::optional<Error> fatal() const;

 private:
  struct Parts {
    std::string name;
    std::unique_ptr<handler::Handler> made;  // null if the program does the work
    handler::Handler* handler = nullptr;
    std::unique_ptr<lane::Downstream> downstream;
    std::unique_ptr<lane::RateLimiter> rate;
    std::unique_ptr<lane::Subscribers> subscribers;
    std::unique_ptr<lane::AdaptiveLimit> adaptive;  // null if the number of workers is fixed
    std::unique_ptr<pool::Permits> permits;         // null if the process has no limit for the pool
  };

  std::vector<std::unique_ptr<Parts>> parts_;  // in the order of Config::pools
  std::unique_ptr<lane::Router> router_;
};

}  // namespace laneway::service
