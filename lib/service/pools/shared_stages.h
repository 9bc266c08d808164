// The parts of the stages that all lanes of the service share: for each stage a handler, a downstream with
// its breaker, a rate, the limits of its subscribers; and the routing of records. Private to lib/service.
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
#include "service/downstream_status.h"

namespace laneway::service {

class SharedStages {
 public:
  /// `own`: the work that the program does itself, for the stages without a handler of their own; null if it
  /// has none. Errors: as make_handler().
  static Result<SharedStages> make(const config::Config& config, handler::Handler* own);

  /// Whether users see the stages, as named pools.
  bool named() const { return router_ != nullptr; }
  std::size_t size() const { return parts_.size(); }
  const std::string& name(std::size_t stage) const { return parts_[stage]->name; }
  handler::Handler& handler(std::size_t stage) const { return *parts_[stage]->handler; }
  /// The downstream of each stage. `config`: the settings in force.
  std::vector<WatchedDownstream> watched(const config::Config& config) const;
  lane::RateLimiter& process_rate() const { return *process_rate_; }
  /// Null if the stage has no subscribers.
  lane::KeyedLimits* subscribers(std::size_t stage) const { return parts_[stage]->subscribers.get(); }

  /// What is parked, and what operators have ordered about that.
  lane::ParkedRecords& parked_records() const { return *parked_records_; }
  lane::ParkedOrders& parked_orders() const { return *parked_orders_; }

  /// Fills the parts of the context that are of these stages. Its retry steps are set.
  void add_to(lane::LaneContext& context, const config::Config& config) const;
  /// For LaneContext::stages, with these settings.
  std::vector<lane::StageContext> for_lanes(const config::Config& config) const;

  /// Puts other sizes, rates and breakers in force; the pools have the same names.
  void change(const config::Config& wanted, TimePoint now);
  /// To be called once a second (Downstream::settle).
  void settle(TimePoint now);
  /// Why a handler has failed permanently.
  std::optional<Error> fatal() const;

 private:
  /// The rate of a stage without a name is that of the process.
  lane::RateLimiter& rate(std::size_t stage) const {
    return parts_[stage]->rate ? *parts_[stage]->rate : *process_rate_;
  }

  struct Parts {
    std::string name;
    std::unique_ptr<handler::Handler> made;  // null if the program does the work
    handler::Handler* handler = nullptr;
    std::unique_ptr<lane::Downstream> downstream;
    std::unique_ptr<lane::RateLimiter> rate;  // null: the rate of the process
    std::unique_ptr<lane::KeyedLimits> subscribers;
    std::unique_ptr<lane::AdaptiveLimit> adaptive;  // null if the number of workers is fixed
    std::unique_ptr<pool::Permits> permits;         // null if the process has no limit for the stage
  };

  std::unique_ptr<lane::RateLimiter> process_rate_;
  std::vector<std::unique_ptr<Parts>> parts_;  // in the order of config::stages_of
  std::unique_ptr<lane::Router> router_;
  std::unique_ptr<lane::ParkedRecords> parked_records_ = std::make_unique<lane::ParkedRecords>();
  std::unique_ptr<lane::ParkedOrders> parked_orders_ = std::make_unique<lane::ParkedOrders>();
};

}  // namespace laneway::service
