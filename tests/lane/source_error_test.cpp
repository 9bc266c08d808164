#include <vector>

#include "captured_log.h"
#include "catch.h"
#include "handler/registry.h"
#include "lane/lane.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr std::int64_t next_offset = 7;

/// A partition whose pops return what the test decides, and that notes the positions that it was asked to
/// seek.
struct ScriptedSource final : PartitionSource {
  std::vector<kafka::Pop> answers;
  std::vector<std::int64_t> seeks;
  std::string error = "denied";

  kafka::Pop pop(kafka::Record&, std::int64_t& offset) override {
    offset = next_offset;
    if (answers.empty()) return kafka::Pop::empty;
    const auto answer = answers.back();
    answers.pop_back();
    return answer;
  }
  std::string last_error() const override { return error; }
  std::size_t fetched() const override { return answers.size(); }
  void pause() override {}
  void resume(std::int64_t) override {}
  void seek(std::int64_t offset) override { seeks.push_back(offset); }
  void wake() override {}
  kafka::LogBounds log_bounds() const override { return {}; }
  void ask_log(bool) override {}
  kafka::LogAnswer log_answer() const override { return {}; }
};

class Fixture {
 public:
  Fixture() {
    auto made = std::make_unique<ScriptedSource>();
    source = made.get();
    lane.start(std::move(made), now);
  }
  ~Fixture() {
    lane.revoke(now);
    (void)lane.close_pool(Deadline::in(seconds(10)));
  }
  void answer(kafka::Pop pop) {
    source->answers = {pop};
    lane.work(now);
  }
  void pass(Duration time) { lane.tick(now += time); }

  LaneContext make_context() {
    LaneContext made;
    made.memory = plan_memory(1 << 28, 1, 1, 1);
    auto& stage = made.stages.emplace_back();
    stage.handler = handler.get();
    stage.downstream = &no_breaker;
    return made;
  }

  TimePoint now = SteadyClock::now();
  const std::unique_ptr<handler::Handler> handler = handler::make_handler(config::Config{}).value();
  Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  const LaneContext context = make_context();
  Lane lane{context, {{"orders", 0}, next_offset, {}}, 1, [] {}};
  ScriptedSource* source = nullptr;  // the lane's
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a partition with an error is asked again every half minute") {
  answer(kafka::Pop::error);
  pass(seconds(29));
  CHECK(source->seeks.empty());
  pass(seconds(1));
  CHECK(source->seeks == std::vector<std::int64_t>{next_offset});
  pass(seconds(29));
  CHECK(source->seeks.size() == 1);
  pass(seconds(1));
  CHECK(source->seeks.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a partition that has answered again, even with its end only, is asked no more") {
  answer(kafka::Pop::error);
  answer(kafka::Pop::end_of_partition);
  pass(seconds(31));
  CHECK(source->seeks.empty());
}

TEST_CASE_METHOD(Fixture,
                 "a partition's new error is logged at once, however often another error came before") {
  CapturedLog log;
  for (int i = 0; i < 100; ++i) {
    answer(kafka::Pop::error);
    pass(seconds(30));
  }
  CHECK(log.lines({"partition error", "denied"}) > 0);
  source->error = "the file is gone";
  answer(kafka::Pop::error);
  CHECK(log.lines({"partition error", "the file is gone"}) > 0);
}
