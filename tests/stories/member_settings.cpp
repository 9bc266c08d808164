#include "stories/member_settings.h"

namespace laneway::stories {
namespace {

config::ClientSetting setting(const std::string& value) { return {value, "", false}; }

void set_pools(const Story& story, config::Config& config) {
  if (story.pools == Pools::none) return;
  // The embedded cluster creates no topics on request: it has those of retry.topics from the beginning.
  config.lanes.park_after = milliseconds(story.retry_topics ? story.park_ms : 0);
  config::PoolSettings first, second;
  first.name = "first";
  second.name = "second";
  first.workers = second.workers = story.workers;
  first.queue = second.queue = story.queue;
  first.breaker = second.breaker = config.unnamed.breaker;
  if (story.pools == Pools::stages) {
    first.then = "second";
  } else {
    config.route.by = {config::Selector::Kind::key, ""};
    config.route.rows.push_back({"1", true, "second"});
    config.route.otherwise = "first";
  }
  if (story.pools == Pools::each) {
    first.each.by = {config::Selector::Kind::key, ""};
    first.each.workers = 1;
  }
  config.pools = {first, second};
}

}  // namespace

config::Config settings_of(const Story& story, const Group& group, const std::string& member) {
  config::Config config;
  config.kafka = {
      {"bootstrap.servers", setting(group.bootstrap)},
      {"group.id", setting(group.name + "-group")},
      {"client.id", setting(member)},
      {"heartbeat.interval.ms", setting("300")},
      {"session.timeout.ms", setting("3000")},
      {"topic.metadata.refresh.interval.ms", setting("1000")},
      {"partition.assignment.strategy", setting(story.cooperative ? "cooperative-sticky" : "range")}};
  if (story.static_ids) config.kafka["group.instance.id"] = setting(member);
  const std::string letters = story.dead_letters ? "(-dlt)?" : "";
  config.topics = {story.pattern ? "^" + group.source + letters + "$" : group.source};
  config.consumers = story.consumers;
  config.lanes.order = story.bug == Bug::order_is_ignored ? config::Order::none : story.order;
  config.unnamed.workers = story.workers + (story.bug == Bug::more_workers_than_allowed ? 2 : 0);
  config.unnamed.queue = story.queue;
  config.lanes.memory = static_cast<std::uint64_t>(story.memory_mib) << 20;
  if (story.bug == Bug::more_memory_than_allowed) config.lanes.memory = 1ULL << 30;
  config.admin.ready.stall = milliseconds(story.stall_ms);
  config.lanes.max_incomplete = story.max_incomplete;
  config.lanes.drain = milliseconds(story.drain_ms);
  if (story.bug == Bug::a_drain_keeps_its_queue) config.lanes.drain = seconds(60);
  if (story.bug == Bug::a_drain_is_cut_short) config.lanes.drain = Duration::zero();
  config.lanes.drain_queued = story.gives_back ? config::DrainQueued::give_back : config::DrainQueued::finish;
  config.commit.interval = milliseconds(story.commit_ms);
  config.retry.attempts = story.attempts;
  config.retry.backoff = milliseconds(20);
  config.retry.max_backoff = milliseconds(200);
  if (story.dead_letters) config.dead_letter.topic = "{topic}-dlt";
  config.dead_letter.max_rate = 0;
  if (story.retry_topics) config.retry.topics = {{"100ms", milliseconds(100)}, {"400ms", milliseconds(400)}};
  config.unnamed.breaker.probe = milliseconds(200);
  set_pools(story, config);
  if (story.work == Work::produce || story.work == Work::transactional) {
    config::ProduceSettings produce;
    produce.topic = "{topic}-out";
    produce.partition = config::ProduceSettings::Partition::keep;
    produce.transactional = story.work == Work::transactional;
    config.handler = produce;
  }
  return config;
}

}  // namespace laneway::stories
