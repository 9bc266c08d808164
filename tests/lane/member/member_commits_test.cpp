// Commits that the brokers refuse for their size, and commits that a stop does not get through, on a group
// that the test plays (fake_group.h).
#include "lane/member/member_commits.h"

#include <algorithm>
#include <map>
#include <memory>

#include "captured_log.h"
#include "catch.h"
#include "eventually.h"
#include "lane/member/consumer_loop.h"
#include "lane/member/fake_group.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr int lanes = 20;

/// A member with many lanes. Each begins with a completion map of about 1,400 bytes, and has one record.
struct CommittingMember {
  CommittingMember() {
    context.stages.resize(1);
    context.stages.front().settings.workers = 1;
    context.lanes.drain = seconds(1);
    context.memory.lane_bytes = 1 << 20;
    context.memory.fetch.queued_min_messages = 1000;
    context.retry.max_crashes = 0;
    context.stages.front().downstream = &no_breaker;
    context.stages.front().handler = &handler;
    settings.topics.names = {"orders"};
    settings.client["group.id"].value = "orders-webhook";
    settings.commit = {milliseconds(10), 1};
    settings.still_draining = std::make_shared<StillDraining>();
    settings.member_client.make_consumer = [this](const auto&, const auto&, std::function<void()> on_event)
        -> Result<std::unique_ptr<kafka::Consumer>> { return group.consumer(std::move(on_event)); };
    settings.member_client.open_source = [this](kafka::Consumer&, const kafka::TopicPartition& partition,
                                                const std::function<void()>&) {
      return std::make_unique<SimulatedSource>(partitions[partition]);
    };
    CompletionMap map{0, {}};
    for (std::int64_t run = 0; run < 500; ++run) map.runs.push_back({100 + 2 * run, 101 + 2 * run});
    for (int i = 0; i < lanes; ++i) {
      start.push_back({{"orders", i}, 0, encode(map)});
      partitions[start.back().partition].add_run(0, 1);
      all.push_back(start.back().partition);
    }
    handler.open();
  }
  ~CommittingMember() {
    if (!loop) return;
    group.refuses_commits_above(1 << 20);
    loop->cut_short();
    CHECK(eventually([&] { return loop->ended(); }));
  }
  CommittingMember(const CommittingMember&) = delete;

  void begin() {
    loop = std::make_unique<ConsumerLoop>(context, settings, [] {});
    REQUIRE(loop->start());
    group.assigns(all);
    REQUIRE(eventually([&] { return !group.calls("ask").empty(); }));
    group.answers_committed(start);
    REQUIRE(eventually([&] { return loop->lanes().size() == lanes; }));
  }
  /// The number of lanes whose record is done.
  int finished() const {
    int count = 0;
    for (const auto& lane : loop->lanes()) count += lane->stats().outcomes[0].get() == 1;
    return count;
  }
  int committed() const {
    int count = 0;
    for (const auto& lane : loop->lanes()) count += lane->stats().committed.offset.get() == 1;
    return count;
  }

  Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  LaneContext context;
  LoopSettings settings;
  FakeGroup group;
  std::map<kafka::TopicPartition, Partition> partitions;
  HeldHandler handler;
  std::vector<kafka::CommittedOffset> start;
  Partitions all;
  std::unique_ptr<ConsumerLoop> loop;
};

/// Refuses the first commits, and later the requests that are too large.
class RefusingPath final : public CommitPath {
 public:
  using CommitPath::CommitPath;
  Status commit(std::vector<kafka::CommittedOffset> offsets, std::size_t most, TimePoint /*now*/) override {
    ++begun;
    result_.emplace();
    for (const auto& offset : offsets) result_->committed.push_back(offset.partition);
    bool refused = refuses_ > 0;
    for (const auto& part : kafka::commit_parts(std::move(offsets), 0, most)) {
      std::size_t bytes = 0;
      for (const auto& offset : part) bytes += kafka::stored_bytes(offset, 0);
      refused = refused || bytes > largest_;
    }
    if (refuses_ > 0) --refuses_;
    if (refused) {
      result_->failed = std::exchange(result_->committed, {});
      result_->error = "Unknown broker error";
      result_->perhaps_too_large = true;
    }
    return {};
  }
  std::optional<kafka::CommitResult> result(TimePoint /*now*/) override {
    return silent ? std::nullopt : std::exchange(result_, std::nullopt);
  }

  int begun = 0;        // commits
  bool silent = false;  // no commit has an answer
  void refuses_first(int commits) { refuses_ = commits; }
  void refuses_above(std::size_t bytes) { largest_ = bytes; }

 private:
  int refuses_ = 0;
  std::size_t largest_ = 1 << 20;
  std::optional<kafka::CommitResult> result_;
};

/// Lanes whose records are finished, and which commit maps of about 1,400 bytes; whole maps if the path is
/// exact.
struct MemberOfPath : CommittingMember {
  explicit MemberOfPath(bool exact = true) {
    consumer = group.consumer([] {});
    auto made = std::make_unique<RefusingPath>(exact);
    path = made.get();
    commits.emplace(*consumer, std::move(made), lanes_of_member, stats);
    commits->follow({seconds(1), 1}, now);
    for (const auto& offset : start) {
      auto& lane = lanes_of_member.add(StoredCommit::read(offset), now);
      lane.lane->start(std::make_unique<SimulatedSource>(partitions[offset.partition]), now);
    }
  }
  ~MemberOfPath() {
    for (auto* lane : lanes_of_member.all()) lanes_of_member.end(*lane, Lane::Ending::given_up, now);
  }
  /// Until each lane has finished so many records.
  bool until_finished(std::uint64_t records) {
    return eventually([&] {
      const auto all_lanes = lanes_of_member.all();
      return std::all_of(all_lanes.begin(), all_lanes.end(), [&](MemberLane* lane) {
        lane->lane->work(now);
        return lane->lane->stats().outcomes[0].get() == records;
      });
    });
  }
  /// Commits once, and returns how many lanes have committed.
  int commit() {
    now += seconds(1);
    (void)commits->begin(lanes_of_member.all(), now);
    return answered();
  }
  /// The same after the answer to a commit that has begun.
  int answered() {
    commits->advance(now);
    int count = 0;
    for (const auto* lane : lanes_of_member.all()) count += lane->lane->stats().committed.offset.get() > 0;
    return count;
  }

  Signal signal;
  TimePoint now = SteadyClock::now();
  MemberLanes lanes_of_member{context, signal};
  LoopStats stats;
  std::unique_ptr<kafka::Consumer> consumer;
  RefusingPath* path;
  std::optional<MemberCommits> commits;
};

}  // namespace

TEST_CASE("a transaction that was refused for a reason other than its size holds no lane") {
  const int refusals = GENERATE(range(1, 9));
  MemberOfPath member;
  member.path->refuses_first(refusals);
  REQUIRE(member.until_finished(1));
  for (int i = 0; i < refusals; ++i) CHECK(member.commit() == 0);
  CHECK(member.commit() == lanes);
}

TEST_CASE("a commit without an answer makes way for the next commit; a transaction does not") {
  const bool exact = GENERATE(true, false);
  MemberOfPath member(exact);
  REQUIRE(member.until_finished(1));
  member.path->silent = true;
  CHECK(member.commit() == 0);
  CHECK(member.commits->under_way());
  if (member.commits->forget()) CHECK(member.commits->begin(member.lanes_of_member.all(), member.now));
  CHECK(member.path->begun == (exact ? 1 : 2));
  member.path->silent = false;
  CHECK(member.answered() == lanes);
  CHECK_FALSE(member.commits->under_way());
}

TEST_CASE("a transaction that is refused for its size is sent in smaller requests") {
  const std::size_t most = GENERATE(20'000, 2'500);  // some lanes together, a lane
  MemberOfPath member;
  member.path->refuses_above(most);
  REQUIRE(member.until_finished(1));
  int commits = 0;
  while (commits < 6 && member.commit() == 0) ++commits;
  CHECK(commits < 6);
}

TEST_CASE("a transaction whose maps alone are too large is committed once its maps are shorter") {
  MemberOfPath member;
  member.path->refuses_above(1'000);
  REQUIRE(member.until_finished(1));
  for (int i = 0; i < 8; ++i) CHECK(member.commit() == 0);
  const auto all_lanes = member.lanes_of_member.all();
  CHECK(std::none_of(all_lanes.begin(), all_lanes.end(), [](const MemberLane* lane) {
    return lane->lane->state() == State::held;  // it takes the records that make its map shorter
  }));
  for (auto& [partition, records] : member.partitions) records.add_run(1, 1'099);
  REQUIRE(member.until_finished(1 + 99 + 499));  // all that the map does not have
  int commits = 0;
  while (commits < 100 && member.commit() == 0) ++commits;
  CHECK(commits < 100);
}

TEST_CASE("a commit that is refused for its size is sent in smaller requests, finally with shorter maps") {
  const std::size_t most = GENERATE(20'000, 2'500, 1'000);  // some lanes together, a lane, less
  CommittingMember member;
  member.settings.commit = {std::chrono::hours(1), lanes};  // once the records of all lanes are finished
  member.group.refuses_commits_above(most);
  member.begin();
  CHECK(eventually([&] { return member.committed() == lanes; }));
  CHECK(member.loop->stats().commits_failed.get() > 0);
}

TEST_CASE("a commit that is refused at any size is not repeated at once") {
  CommittingMember member;
  member.group.refuses_commits_above(0);
  member.begin();
  REQUIRE(eventually([&] { return member.loop->stats().commits_failed.get() > 20; }));
  // One round ends with two commits that have a request for each lane.
  const auto calls = member.group.calls("commit");
  const auto single = std::count_if(calls.begin(), calls.end(),
                                    [](const auto& call) { return call.find(' ', 8) == call.npos; });
  CHECK(single <= 2 * lanes);
}

TEST_CASE("a stop whose last commit fails names each partition and its offset, and counts the records") {
  const CapturedLog log;
  CommittingMember member;
  member.group.refuses_commits_above(0);
  member.begin();
  REQUIRE(eventually([&] { return member.finished() == lanes; }));
  member.loop->stop();
  REQUIRE(eventually([&] { return member.loop->ended(); }));
  CHECK(member.loop->uncommitted() == lanes);
  CHECK(member.loop->abandoned() == 0);
  const std::string event = "finished records are not committed and run again";
  CHECK(log.lines({event}) == lanes);
  CHECK(log.lines({event, "topic=orders partition=7 ", " offset=0 ", "records=1"}) == 1);
}

TEST_CASE("a stop whose last commit is refused for its size commits in smaller requests") {
  CommittingMember member;
  member.settings.commit = {std::chrono::hours(1), 0};
  member.group.refuses_commits_above(2'500);  // a lane
  member.begin();
  REQUIRE(eventually([&] { return member.finished() == lanes; }));
  member.loop->stop();
  REQUIRE(eventually([&] { return member.loop->ended(); }));
  CHECK(member.loop->stats().commits_failed.get() > 0);
  CHECK(member.loop->uncommitted() == 0);
}

TEST_CASE("a stop whose last commit is acknowledged leaves nothing uncommitted") {
  CommittingMember member;
  member.group.refuses_commits_above(1 << 20);
  member.begin();
  member.loop->stop();
  REQUIRE(eventually([&] { return member.loop->ended(); }));
  CHECK(member.loop->uncommitted() == 0);
}
