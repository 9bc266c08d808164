#include "stories/play.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "kafka/produce/producer.h"
#include "mock_cluster.h"
#include "service/service.h"
#include "stories/work.h"

namespace laneway::stories {
namespace {

using Cluster = kafka::MockCluster;
using service::ControlRequest;

// Promises of the service, and what a machine that is busy with other stories may add.
constexpr Duration ready_within = seconds(15);
constexpr Duration stop_beyond_drain = seconds(5);
constexpr Duration busy_machine = seconds(5);
constexpr Duration complete_within = seconds(45);
constexpr int most_stall_ms = 5000;              // that a story waits for
constexpr Duration planted_within = seconds(8);  // instead, where it cannot succeed anyway

config::ClientSetting setting(const std::string& value) { return {value, "", false}; }

/// One service of the group.
struct Member {
  std::string name;
  std::unique_ptr<service::Service> service;
  std::thread waits;
  std::atomic<bool> running{false};  // it has started, and nobody has stopped it
  std::atomic<bool> ended{false};
  service::Ended how;  // once it has ended
};

class Play {
 public:
  explicit Play(const Story& story)
      : story_(story),
        name_("s" + std::to_string(number_++)),
        facts_(story, name_ + "-orders"),
        tap_(name_, facts_),
        downstream_(story_, tap_) {}

  Result go() {
    if (!build()) return {{{"it begins", "the embedded cluster does not start"}}, "", false};
    for (int i = 0; i < story_.members; ++i) join();
    const auto assigned = Deadline::in(seconds(10));  // a fault before that would find nothing
    while (!all_ready() && !assigned.passed()) sleep(10);
    begun_ = SteadyClock::now();
    std::vector<std::thread> threads;
    threads.emplace_back([this] { write(); });
    for (const auto& fault : story_.faults) threads.emplace_back([this, &fault] { act(fault); });
    for (auto& thread : threads) thread.join();
    settle();
    for (auto* member : running()) end(*member);
    facts_.judge_end();
    return {facts_.breaches(), facts_.figures(), left_behind_};
  }

 private:
  bool build();
  config::Config config(const std::string& member) const;
  void set_pools(config::Config& config) const;
  std::unique_ptr<handler::Handler> handler(const std::string& member);

  Member* join();
  void end(Member& member, bool abandon = false);
  std::vector<Member*> running();
  Member* chosen(std::uint32_t choice);
  void write();
  void settle();
  bool all_ready();

  void act(const Fault& fault);
  void judge_stall();
  void of_brokers(const Fault& fault);
  void of_members(const Fault& fault);
  void of_operators(const Fault& fault);
  void fail(const Fault& fault);
  void suspend(const Fault& fault);
  /// Whether a running member has the partition suspended; nullopt if none has the partition.
  std::optional<bool> suspended(const TopicPartition& partition);
  void skip(const Fault& fault);
  void reload(const Fault& fault);
  std::int32_t broker(std::uint32_t choice) const {
    return static_cast<std::int32_t>(1 + choice % static_cast<std::uint32_t>(story_.brokers));
  }
  static void sleep(int ms) { std::this_thread::sleep_for(milliseconds(ms)); }

  static inline std::atomic<int> number_{1};
  const Story story_;
  const std::string name_;
  Facts facts_;
  Tap tap_;
  Downstream downstream_;
  Mutex cluster_mutex_;
  std::unique_ptr<Cluster> cluster_;
  std::string bootstrap_;
  TimePoint begun_;
  std::atomic<bool> left_behind_{false};
  Mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_ GUARDED_BY(mutex_);  // destroyed before the cluster
};

bool Play::build() {
  auto started = Cluster::start(story_.brokers);
  if (!started) return false;
  cluster_ = std::move(started).value();
  bootstrap_ = cluster_->bootstrap();
  const auto& source = facts_.source();
  for (const auto& topic : {source, source + "-dlt", source + "-retry-100ms", source + "-retry-400ms",
                            source + "-out", std::string("elsewhere")})
    if (!cluster_->create_topic(topic, story_.partitions)) return false;
  return true;
}

void Play::set_pools(config::Config& config) const {
  if (story_.pools == Pools::none) return;
  config.lanes.park_after = Duration::zero();  // the facts do not follow parked records
  config::PoolSettings first, second;
  first.name = "first";
  second.name = "second";
  first.workers = second.workers = story_.workers;
  first.queue = second.queue = story_.queue;
  first.breaker = second.breaker = config.unnamed.breaker;
  if (story_.pools == Pools::stages) {
    first.then = "second";
  } else {
    config.route.by = {config::Selector::Kind::key, ""};
    config.route.rows.push_back({"1", true, "second"});
    config.route.otherwise = "first";
  }
  if (story_.pools == Pools::each) {
    first.each.by = {config::Selector::Kind::key, ""};
    first.each.workers = 1;
  }
  config.pools = {first, second};
}

config::Config Play::config(const std::string& member) const {
  config::Config config;
  config.kafka = {
      {"bootstrap.servers", setting(bootstrap_)},
      {"group.id", setting(name_ + "-group")},
      {"client.id", setting(member)},
      {"heartbeat.interval.ms", setting("300")},
      {"session.timeout.ms", setting("3000")},
      {"topic.metadata.refresh.interval.ms", setting("1000")},
      {"partition.assignment.strategy", setting(story_.cooperative ? "cooperative-sticky" : "range")}};
  if (story_.static_ids) config.kafka["group.instance.id"] = setting(member);
  const std::string letters = story_.dead_letters ? "(-dlt)?" : "";
  config.topics = {story_.pattern ? "^" + facts_.source() + letters + "$" : facts_.source()};
  config.consumers = story_.consumers;
  config.lanes.order = story_.bug == Bug::order_is_ignored ? config::Order::none : story_.order;
  config.unnamed.workers = story_.workers + (story_.bug == Bug::more_workers_than_allowed ? 2 : 0);
  config.unnamed.queue = story_.queue;
  config.lanes.memory = static_cast<std::uint64_t>(story_.memory_mib) << 20;
  if (story_.bug == Bug::more_memory_than_allowed) config.lanes.memory = 1ULL << 30;
  config.admin.ready.stall = milliseconds(story_.stall_ms);
  config.lanes.max_incomplete = story_.max_incomplete;
  config.lanes.drain = milliseconds(story_.drain_ms);
  if (story_.bug == Bug::a_drain_keeps_its_queue) config.lanes.drain = seconds(60);
  if (story_.bug == Bug::a_drain_is_cut_short) config.lanes.drain = Duration::zero();
  config.lanes.drain_queued =
      story_.gives_back ? config::DrainQueued::give_back : config::DrainQueued::finish;
  config.commit.interval = milliseconds(story_.commit_ms);
  config.retry.attempts = story_.attempts;
  config.retry.backoff = milliseconds(20);
  config.retry.max_backoff = milliseconds(200);
  if (story_.dead_letters) config.dead_letter.topic = "{topic}-dlt";
  config.dead_letter.max_rate = 0;
  if (story_.retry_topics) config.retry.topics = {{"100ms", milliseconds(100)}, {"400ms", milliseconds(400)}};
  config.unnamed.breaker.probe = milliseconds(200);
  set_pools(config);
  if (story_.work == Work::produce || story_.work == Work::transactional) {
    config::ProduceSettings produce;
    produce.topic = "{topic}-out";
    produce.partition = config::ProduceSettings::Partition::keep;
    produce.transactional = story_.work == Work::transactional;
    config.handler = produce;
  }
  return config;
}

std::unique_ptr<handler::Handler> Play::handler(const std::string& member) {
  if (story_.work == Work::library) return std::make_unique<BlockingHandler>(downstream_, member);
  if (story_.work == Work::asynchronous) return std::make_unique<AsynchronousHandler>(downstream_, member, 8);
  return nullptr;
}

Member* Play::join() {
  auto made = std::make_unique<Member>();
  Member* member = made.get();
  {
    MutexLock lock(mutex_);
    member->name = name_ + "-m" + std::to_string(members_.size() + 1);
    members_.push_back(std::move(made));
  }
  member->service = std::make_unique<service::Service>(config(member->name), handler(member->name));
  const auto started = member->service->start();
  if (!started) {
    facts_.breach("members start", member->name + ": " + started.error().text());
    return nullptr;
  }
  member->running = true;
  member->waits = std::thread([member] {
    member->how = member->service->wait();
    member->ended = true;
  });
  return member;
}

std::vector<Member*> Play::running() {
  MutexLock lock(mutex_);
  std::vector<Member*> all;
  for (const auto& member : members_)
    if (member->running) all.push_back(member.get());
  return all;
}

Member* Play::chosen(std::uint32_t choice) {
  const auto all = running();
  return all.empty() ? nullptr : all[choice % all.size()];
}

void Play::end(Member& member, bool abandon) {
  if (!member.running.exchange(false)) return;
  if (abandon) tap_.abandon(member.name);
  const bool by_itself = member.ended;
  const auto stopped_before = downstream_.stopped(member.name);
  const auto begun = SteadyClock::now();
  member.service->stop();
  if (abandon) member.service->stop();
  member.waits.join();
  const auto took = SteadyClock::now() - begun;
  const auto& how = member.how;
  if (!abandon) {
    if (took > milliseconds(story_.drain_ms) + stop_beyond_drain + busy_machine)
      facts_.breach("a stop has a bound",
                    member.name + " took " + std::to_string(took / milliseconds(1)) + " ms to stop");
    if (by_itself && story_.work != Work::transactional)
      facts_.breach("members live",
                    member.name + " ended by itself" + (how.error ? ": " + how.error->text() : ""));
    const auto stopped = downstream_.stopped(member.name) - stopped_before;
    if (how.abandoned > stopped)
      facts_.breach("only what ran is abandoned", member.name + " abandoned " +
                                                      std::to_string(how.abandoned) + " records, of which " +
                                                      std::to_string(stopped) + " ran");
    if (how.abandoned > 0 && downstream_.always_worked() && story_.hanging == 0)
      facts_.breach("a drain finishes what it keeps", member.name + " abandoned " +
                                                          std::to_string(how.abandoned) + " records of " +
                                                          std::to_string(story_.work_ms) + " ms");
  }
  // Another fault may be asking the service at the moment, so it is destroyed with the play. A member can
  // hang in the client, such as an expelled one, of which the embedded coordinator keeps a ghost.
  if (how.stuck) left_behind_ = true;
}

void Play::write() {
  auto client = config("witness").kafka;
  client.erase("group.instance.id");
  auto producer = kafka::Producer::create(
      {.client = kafka::producer_client(client, {{"compression.type", setting(story_.compression)}}),
       .delivery_timeout = seconds(60)});
  if (!producer) return facts_.breach("it begins", producer.error().text());
  const auto now = std::chrono::system_clock::now().time_since_epoch() / milliseconds(1);
  constexpr std::int64_t year_ms = 365LL * 24 * 3600 * 1000;
  const auto timestamp = story_.old ? now - year_ms : kafka::now_timestamp;
  for (int i = 0; i < story_.records; ++i) {
    for (std::int32_t p = 0; p < story_.partitions; ++p) {
      const auto value = value_of({p, i}, story_.bytes);
      const auto key = std::to_string((i * 7) % story_.keys);
      const kafka::Outgoing record{
          .topic = facts_.source(), .partition = p, .key = key, .value = value, .timestamp = timestamp};
      while ((*producer)->send(record, nullptr).sent == kafka::Sent::full) sleep(1);
    }
    if (!story_.burst) std::this_thread::sleep_until(begun_ + i * seconds(2) / story_.records);
  }
  if (!(*producer)->flush(Deadline::in(seconds(60))) || (*producer)->failed() > 0)
    return facts_.breach("it begins", "records of the load were not written");
  for (int i = 0; i < story_.records; ++i)
    for (std::int32_t p = 0; p < story_.partitions; ++p) facts_.written({p, i});
}

bool Play::all_ready() {
  const auto all = running();
  const bool begun = begun_ != TimePoint();
  if (story_.bug == Bug::is_never_ready_again && begun) return false;
  if (story_.bug == Bug::is_ready_while_it_stalls && begun) return true;
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Member* member) {
    return member->ended || member->service->readiness().ready();
  });
}

void Play::settle() {
  for (auto* member :
       running())  // a member whose transaction failed for good has ended, and is started again
    if (member->ended) end(*member);
  while (static_cast<int>(running().size()) < story_.members && join() != nullptr) {
  }
  const bool planted = story_.bug != Bug::none;
  const auto ready = Deadline::in(planted ? planted_within : ready_within + busy_machine);
  bool again = all_ready();  // once is enough: the next rebalance may follow at once
  for (; !again && !ready.passed(); again = all_ready()) sleep(20);
  if (!again) {
    std::string why;
    for (auto* member : running())
      for (const auto& reason : member->service->readiness().reasons) why += "; " + reason.text;
    facts_.breach("ready again", "not ready after the last fault" + why);
  }
  const auto complete = Deadline::in(planted ? planted_within : complete_within);
  while (!facts_.complete() && !complete.passed()) sleep(20);
}

void Play::act(const Fault& fault) {
  using Kind = Fault::Kind;
  std::this_thread::sleep_until(begun_ + milliseconds(fault.at));
  const auto downstream = [&](Mood mood) {
    downstream_.become(mood);
    sleep(fault.lasts);
    if (mood == Mood::hangs) judge_stall();
    downstream_.become(Mood::work);
  };
  if (fault.kind <= Kind::slow_broker) return of_brokers(fault);
  if (fault.kind <= Kind::member_is_expelled) return of_members(fault);
  if (fault.kind <= Kind::skip) return of_operators(fault);
  downstream(fault.kind == Kind::outage_503   ? Mood::answers_503
             : fault.kind == Kind::outage_500 ? Mood::answers_500
             : fault.kind == Kind::hang       ? Mood::hangs
                                              : Mood::slow);
}

/// A lane whose calls hang is not ready after the time that the settings allow. A suspended lane is.
void Play::judge_stall() {
  const bool suspends = std::any_of(story_.faults.begin(), story_.faults.end(), [](const Fault& fault) {
    return fault.kind == Fault::Kind::suspend || fault.kind == Fault::Kind::suspended_moves;
  });
  if (suspends || story_.stall_ms > most_stall_ms) return;
  const auto told = Deadline::in(milliseconds(story_.stall_ms) + busy_machine);
  const auto untold = [&] { return downstream_.holds_calls() && all_ready(); };
  for (; untold() && !told.passed(); sleep(20)) {
  }
  if (untold()) facts_.breach("a stall is told", "calls hang, and each member is ready");
}

void Play::fail(const Fault& fault) {
  using Request = Cluster::Request;
  constexpr std::array requests{Request::fetch,        Request::list_offsets, Request::offset_commit,
                                Request::offset_fetch, Request::join_group,   Request::sync_group,
                                Request::heartbeat,    Request::produce};
  const auto request = requests[fault.choice % requests.size()];
  const auto failure = request == Request::offset_commit && fault.choice % 3 == 0
                           ? Cluster::Failure::rebalancing
                           : Cluster::Failure::moved;
  MutexLock lock(cluster_mutex_);
  cluster_->fail_next(request, 1 + fault.choice / 16 % 3, failure);
}

void Play::of_brokers(const Fault& fault) {
  const auto broker = this->broker(fault.choice);
  const auto locked = [&](auto action) {
    MutexLock lock(cluster_mutex_);
    (void)action(*cluster_);
  };
  switch (fault.kind) {
    case Fault::Kind::broker_error:
      return fail(fault);
    case Fault::Kind::coordinator_moves:
      if (story_.bug == Bug::a_coordinator_is_lost) tap_.lose_coordinator();
      return locked([&](Cluster& cluster) { return cluster.set_coordinator(name_ + "-group", broker); });
    case Fault::Kind::leader_moves:
      return locked([&](Cluster& cluster) { return cluster.set_leader(facts_.source(), 0, broker); });
    case Fault::Kind::broker_stops:
      locked([&](Cluster& cluster) { return cluster.stop_broker(broker); });
      sleep(fault.lasts);
      return locked([&](Cluster& cluster) { return cluster.start_broker(broker); });
    default:
      locked([&](Cluster& cluster) { return cluster.set_latency(broker, 150); });
      sleep(fault.lasts);
      return locked([&](Cluster& cluster) { return cluster.set_latency(broker, 0); });
  }
}

void Play::of_members(const Fault& fault) {
  if (fault.kind == Fault::Kind::member_joins) return (void)join();
  if (fault.kind == Fault::Kind::member_is_expelled) {
    MutexLock lock(cluster_mutex_);
    return cluster_->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
  }
  if (auto* member = chosen(fault.choice)) end(*member, fault.kind == Fault::Kind::member_is_abandoned);
  sleep(fault.lasts);
  if (running().empty() || fault.choice % 2 == 0) (void)join();
}

void Play::of_operators(const Fault& fault) {
  if (fault.kind == Fault::Kind::reload) return reload(fault);
  if (fault.kind != Fault::Kind::skip) return suspend(fault);
  skip(fault);
}

void Play::reload(const Fault& fault) {
  for (auto* member : running()) {
    auto wanted = config(member->name);
    wanted.unnamed.workers = 1 + fault.choice % 8;
    wanted.unnamed.queue = 1 + fault.choice % 100;
    wanted.commit.every = 1 + fault.choice % 1000;
    if (story_.pools == Pools::none) facts_.allow_workers(wanted.unnamed.workers);
    (void)member->service->change(wanted);
  }
}

void Play::suspend(const Fault& fault) {
  auto* member = chosen(fault.choice);
  if (member == nullptr) return;
  const auto lanes = member->service->snapshot();
  if (lanes.empty()) return;
  const auto& lane = lanes[fault.choice % lanes.size()];
  ControlRequest request{
      .action = ControlRequest::Action::suspend, .topic = lane.topic, .partition = lane.partition};
  const TopicPartition partition{lane.topic, lane.partition};
  const auto answer = member->service->control(request).kind;
  if (answer != service::ControlAnswer::Kind::done && answer != service::ControlAnswer::Kind::accepted)
    return;
  facts_.suspended(member->name, partition, answer == service::ControlAnswer::Kind::done);
  request.action = ControlRequest::Action::resume;
  if (story_.bug == Bug::a_suspension_does_not_hold) (void)member->service->control(request);
  if (fault.kind == Fault::Kind::suspended_moves) {
    end(*member);
    if (running().empty()) (void)join();
    for (const auto until = Deadline::in(seconds(5)); !suspended(partition) && !until.passed();) sleep(20);
  }
  sleep(fault.lasts);
  facts_.resumed(partition);
  if (story_.bug == Bug::a_resume_is_forgotten) return;
  // A partition that is between two owners is asked for again, as an operator would.
  for (const auto until = Deadline::in(seconds(20)); !until.passed(); sleep(100)) {
    for (auto* other : running()) (void)other->service->control(request);
    if (suspended(partition) == false) return;
  }
}

std::optional<bool> Play::suspended(const TopicPartition& partition) {
  for (auto* member : running())
    for (const auto& lane : member->service->status().lanes)
      if (lane.view.topic == partition.topic && lane.view.partition == partition.partition)
        return lane.view.suspended();
  return std::nullopt;
}

void Play::skip(const Fault& fault) {
  const auto until = Deadline::in(milliseconds(fault.lasts));
  while (!until.passed()) {
    for (auto* member : running())
      for (const auto& lane : member->service->status().lanes) {
        const auto& oldest = lane.detail.oldest;
        if (!oldest || oldest->error.empty()) continue;
        const ControlRequest request{.action = ControlRequest::Action::skip,
                                     .topic = lane.view.topic,
                                     .partition = lane.view.partition,
                                     .offset = oldest->offset,
                                     .reason = "the story says so"};
        const auto kind = member->service->control(request).kind;
        if (kind != service::ControlAnswer::Kind::done && kind != service::ControlAnswer::Kind::accepted)
          continue;
        return facts_.skipped({lane.view.topic, lane.view.partition}, oldest->offset);
      }
    sleep(50);
  }
}

}  // namespace

Result play(const Story& story) {
  auto play = std::make_unique<Play>(story);
  auto result = play->go();
  if (result.left_behind) (void)play.release();
  return result;
}

}  // namespace laneway::stories
