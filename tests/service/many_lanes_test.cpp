// A service with as many partitions as a large cluster may give to one process.
#include "service/support.h"
#include "under_sanitizer.h"

using namespace laneway;
using namespace laneway::service;

namespace {

/// A sanitizer makes the client and its embedded brokers so slow that a busy machine needs minutes.
constexpr int partitions = under_sanitizer ? 1000 : 10000;
constexpr int apart = 50;  // one in this many partitions has records: the embedded brokers are not fast
constexpr int busy = partitions / apart;

/// Finishes at once, on the lanes' own thread: no lane has a worker.
class AtOnce final : public handler::Handler {
 public:
  explicit AtOnce(std::atomic<std::uint64_t>& done) : done_(done) {}
  void handle(handler::Task task) noexcept override {
    for (std::uint32_t i = 0; i < task.size(); ++i) {
      static_cast<void>(task.attempt(i));
      task.answer(i, handler::Outcome::done());
    }
    done_.fetch_add(task.size());
  }
  bool asynchronous() const override { return true; }
  std::string name() const override { return "at once"; }

 private:
  std::atomic<std::uint64_t>& done_;
};

/// Commits as a group that has run before. Otherwise the client asks for the beginning of each partition
/// itself.
void commit_beginnings(const World& world) {
  auto consumer = kafka::Consumer::create(world.config.kafka, {}, [] {});
  REQUIRE(consumer);
  std::vector<kafka::CommittedOffset> beginnings;
  for (std::int32_t partition = 0; partition < partitions; ++partition)
    beginnings.push_back({{"orders", partition}, 0, {}});
  REQUIRE((*consumer)->commit(1, beginnings));
  REQUIRE(eventually([&] {
    const auto event = (*consumer)->poll();
    return event && std::holds_alternative<kafka::CommitResult>(*event);
  }));
  consumer->reset();
}

/// One record for each of the busy partitions.
void produce(const World& world) {
  auto producer = kafka::Producer::create({.client = kafka::producer_client(world.config.kafka)});
  REQUIRE(producer);
  for (std::int32_t partition = 0; partition < partitions; partition += apart) {
    const kafka::Outgoing record{.topic = "orders", .partition = partition, .value = "value"};
    REQUIRE((*producer)->send(record, nullptr).sent == kafka::Sent::accepted);
  }
  REQUIRE((*producer)->flush(Deadline::in(patience)));
  REQUIRE((*producer)->failed() == 0);
}

/// So many lanes take their time on a machine that has much else to do.
constexpr Duration with_many_lanes = 3 * patience;

}  // namespace

TEST_CASE("10,000 lanes are assigned, finish their records, commit, drain and end") {
  World world(partitions);
  commit_beginnings(world);
  produce(world);
  std::atomic<std::uint64_t> done{0};
  const auto service = std::make_unique<Service>(world.config, std::make_unique<AtOnce>(done));
  REQUIRE(service->start());
  REQUIRE(eventually([&] { return done.load() == busy; }, with_many_lanes));
  CHECK(service->snapshot().size() == partitions);
  produce(world);
  REQUIRE(eventually([&] { return done.load() == 2 * busy; }, with_many_lanes));
  service->stop();
  const auto ended = service->wait();
  // A busy machine may free such a client for seconds; a thread that is not joined would be a leak.
  CHECK(eventually([&] { return !service->wait().stuck; }, with_many_lanes));
  CHECK(ended.abandoned == 0);
  CHECK_FALSE(ended.error);
  CHECK(done.load() == 2 * busy);
  const auto committed = world.committed_offsets();
  for (int partition = 0; partition < partitions; partition += apart)
    CHECK(committed[static_cast<std::size_t>(partition)] == 2);
}
