// The subscription of a member whose topics a pattern finds: a look at all topics of the cluster now and
// then, and a new subscription when other topics are found.
//
// The client and, where they distribute the partitions, the brokers could match a pattern themselves. But
// neither can leave the service's own dead-letter topics out (config/rules/consumed_topics.h), the two read
// a pattern differently, and a client that matches patterns joins the group again in the middle of a drain.
//
// A new subscription makes the group rebalance. So a member looks soon after each rebalance event: the
// members that have not found the new topics follow together, and not each at its own time with a rebalance
// of its own.
//
// If no topic is left, the last subscription stays: a member that has joined a group cannot subscribe to
// nothing without leaving the group.
//
// Ownership: the consumer outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/rules/consumed_topics.h"
#include "kafka/group/consumer.h"

namespace laneway::lane {

struct TopicSubscription {
  std::vector<std::string> names;  ///< sorted; may be empty with a pattern that has found nothing yet
  /// Finds further topics; null if `names` are all.
  std::shared_ptr<const config::ConsumedTopics> pattern{};
  Duration interval = Duration::max();  ///< between two looks at all topics
};

class TopicWatch {
 public:
  /// The consumer is subscribed to the names, and there is a pattern.
  TopicWatch(kafka::Consumer& consumer, TopicSubscription subscription)
      : consumer_(consumer), subscription_(std::move(subscription)) {}

  void on_topics(const kafka::TopicsFound& found, TimePoint now);
  /// Something may have changed: looks within a second.
  void look_soon(TimePoint now);
  /// Another member may have found new topics: looks within a second, unless this member has changed its
  /// subscription within the interval, so that brokers which differ about the topics cause no endless
  /// rebalances.
  void on_rebalance(TimePoint now);
  /// `at_rest`: no rebalance is under way, so the subscription may change.
  void advance(bool at_rest, TimePoint now);
  /// Nothing has been subscribed to yet.
  bool without_topics() const { return subscription_.names.empty(); }

 private:
  TimePoint next_interval(TimePoint now) const;

  kafka::Consumer& consumer_;
  TopicSubscription subscription_;  // the names that the client has
  std::vector<std::string> found_;  // by the last look; empty if it found the same, or nothing
  bool asked_ = false;
  TimePoint next_look_{};
  TimePoint follows_from_{};  // no rebalance before is a reason to look
};

}  // namespace laneway::lane
