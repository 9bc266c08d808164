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
#include "stories/members.h"
#include "stories/work.h"

namespace laneway::stories {
namespace {

using Cluster = kafka::MockCluster;
using service::ControlRequest;

// Promises of the service.
constexpr Duration ready_within = seconds(15);
constexpr Duration complete_within = seconds(45);
constexpr int most_stall_ms = 5000;              // that a story waits for
constexpr Duration planted_within = seconds(8);  // instead, where it cannot succeed anyway

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
    for (int i = 0; i < story_.members; ++i) members_->join();
    const auto assigned = Deadline::in(seconds(10));  // a fault before that would find nothing
    while (!all_ready() && !assigned.passed()) sleep(10);
    begun_ = SteadyClock::now();
    std::vector<std::thread> threads;
    threads.emplace_back([this] { write(); });
    for (const auto& fault : story_.faults) threads.emplace_back([this, &fault] { act(fault); });
    for (auto& thread : threads) thread.join();
    settle();
    for (auto* member : members_->running()) members_->end(*member);
    facts_.judge_end();
    return {facts_.breaches(), facts_.figures(), members_->left_behind()};
  }

 private:
  bool build();
  void write();
  void settle();
  bool all_ready();

  void act(const Fault& fault);
  int concerned_by(const Fault& fault) const;
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
  TimePoint begun_;
  std::optional<Members> members_;  // once the cluster is there; destroyed before it
};

bool Play::build() {
  auto started = Cluster::start(story_.brokers);
  if (!started) return false;
  cluster_ = std::move(started).value();
  members_.emplace(story_, Group{name_, facts_.source(), cluster_->bootstrap()}, facts_, tap_, downstream_);
  const auto& source = facts_.source();
  for (const auto& topic : {source, source + "-dlt", source + "-retry-100ms", source + "-retry-400ms",
                            source + "-out", std::string("elsewhere")})
    if (!cluster_->create_topic(topic, story_.partitions)) return false;
  return true;
}

void Play::write() {
  auto client = members_->config("witness").kafka;
  client.erase("group.instance.id");
  auto producer = kafka::Producer::create(
      {.client = kafka::producer_client(client, {{"compression.type", {story_.compression, "", false}}}),
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
  const auto all = members_->running();
  const bool begun = begun_ != TimePoint();
  if (story_.bug == Bug::is_never_ready_again && begun) return false;
  if (story_.bug == Bug::is_ready_while_it_stalls && begun) return true;
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Member* member) {
    return member->ended || member->service->readiness().ready();
  });
}

void Play::settle() {
  for (auto* member :
       members_->running())  // a member whose transaction failed for good has ended, and is started again
    if (member->ended) members_->end(*member);
  while (static_cast<int>(members_->running().size()) < story_.members && members_->join() != nullptr) {
  }
  const bool planted = story_.bug != Bug::none;
  const auto ready = Deadline::in(planted ? planted_within : ready_within + busy_machine);
  bool again = all_ready();  // once is enough: the next rebalance may follow at once
  for (; !again && !ready.passed(); again = all_ready()) sleep(20);
  if (!again) {
    std::string why;
    for (auto* member : members_->running())
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
    downstream_.become(mood, concerned_by(fault));
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

/// Where records are parked, most outages are those of one pool or subscriber.
int Play::concerned_by(const Fault& fault) const {
  const bool alone = fault.kind == Fault::Kind::outage_503 || fault.kind == Fault::Kind::slow;
  if (story_.park_ms == 0 || !alone || fault.choice % 4 == 0) return Downstream::all_keys;
  return static_cast<int>(1 + fault.choice % 2);
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
  if (fault.kind == Fault::Kind::member_joins) return (void)members_->join();
  if (fault.kind == Fault::Kind::member_is_expelled) {
    MutexLock lock(cluster_mutex_);
    return cluster_->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::unknown_member);
  }
  if (auto* member = members_->chosen(fault.choice))
    members_->end(*member, fault.kind == Fault::Kind::member_is_abandoned);
  sleep(fault.lasts);
  if (members_->running().empty() || fault.choice % 2 == 0) (void)members_->join();
}

void Play::of_operators(const Fault& fault) {
  if (fault.kind == Fault::Kind::reload) return reload(fault);
  if (fault.kind != Fault::Kind::skip) return suspend(fault);
  skip(fault);
}

void Play::reload(const Fault& fault) {
  for (auto* member : members_->running()) {
    auto wanted = members_->config(member->name);
    wanted.unnamed.workers = 1 + fault.choice % 8;
    wanted.unnamed.queue = 1 + fault.choice % 100;
    wanted.commit.every = 1 + fault.choice % 1000;
    if (story_.pools == Pools::none) facts_.allow_workers(wanted.unnamed.workers);
    (void)member->service->change(wanted);
  }
}

void Play::suspend(const Fault& fault) {
  auto* member = members_->chosen(fault.choice);
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
    members_->end(*member);
    if (members_->running().empty()) (void)members_->join();
    for (const auto until = Deadline::in(seconds(5)); !suspended(partition) && !until.passed();) sleep(20);
  }
  sleep(fault.lasts);
  facts_.resumed(partition);
  if (story_.bug == Bug::a_resume_is_forgotten) return;
  // A partition that is between two owners is asked for again, as an operator would.
  for (const auto until = Deadline::in(seconds(20)); !until.passed(); sleep(100)) {
    for (auto* other : members_->running()) (void)other->service->control(request);
    if (suspended(partition) == false) return;
  }
}

std::optional<bool> Play::suspended(const TopicPartition& partition) {
  for (auto* member : members_->running())
    for (const auto& lane : member->service->status().lanes)
      if (lane.view.topic == partition.topic && lane.view.partition == partition.partition)
        return lane.view.suspended();
  return std::nullopt;
}

void Play::skip(const Fault& fault) {
  const auto until = Deadline::in(milliseconds(fault.lasts));
  while (!until.passed()) {
    for (auto* member : members_->running())
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
