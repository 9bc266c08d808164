#include "lane/position/position_judge.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using Verdict = PositionJudge::Verdict;
using Comparison = PositionJudge::Comparison;

namespace {

const TimePoint started{};

PositionJudge in_doubt(std::int64_t expected, std::int64_t end_seen = kafka::no_offset,
                       bool can_compare = false) {
  PositionJudge judge(expected, can_compare, started);
  if (end_seen != kafka::no_offset) judge.saw_end(end_seen);
  return judge;
}

}  // namespace

TEST_CASE("an outdated leader is not believed: one answer that knows the offset suffices to stay") {
  auto judge = in_doubt(1816);
  for (int i = 0; i < 20; ++i)
    CHECK(judge.hear({0, 7}, started + milliseconds(700) * i) == Verdict::ask_again);
  CHECK(judge.hear({0, 1816}, started + seconds(14)) == Verdict::stay);
}

TEST_CASE("a log that ends before the offset for long enough, in enough answers, is a new log") {
  auto judge = in_doubt(20);
  for (int i = 0; i < 30; ++i)
    CHECK(judge.hear({0, 0}, started + milliseconds(10) * i) == Verdict::ask_again);
  CHECK(judge.hear({0, 0}, started + PositionJudge::least_time - milliseconds(1)) == Verdict::ask_again);
  CHECK(judge.hear({0, 0}, started + PositionJudge::least_time) == Verdict::start_over);
  CHECK(judge.log_start() == 0);
}

TEST_CASE("too few answers decide nothing, however far apart they are") {
  auto judge = in_doubt(20);
  for (std::uint32_t i = 1; i < PositionJudge::least_answers; ++i)
    CHECK(judge.hear({0, 5}, started + seconds(100) * i) == Verdict::ask_again);
  CHECK(judge.hear({0, 5}, started + seconds(1000)) == Verdict::start_over);
}

TEST_CASE("retention that has passed the offset moves it forward to the log's start, and no further") {
  auto judge = in_doubt(100);
  CHECK(judge.hear({10000, 20100}, started) == Verdict::forward);
  CHECK(judge.log_start() == 10000);
}

TEST_CASE("a log that has grown past the offset is compared by the last taken record") {
  auto judge = in_doubt(20, 0, true);
  CHECK(judge.hear({0, 30}, started) == Verdict::compare);
  CHECK(PositionJudge(judge).compared(Comparison::same) == Verdict::stay);
  CHECK(PositionJudge(judge).compared(Comparison::other) == Verdict::start_over);
  // the log was seen empty
  CHECK(PositionJudge(judge).compared(Comparison::impossible) == Verdict::start_over);
}

TEST_CASE("without a record to compare, a log that was empty or growing counts as new") {
  CHECK(in_doubt(20, 0).hear({0, 30}, started) == Verdict::start_over);
  CHECK(in_doubt(20, 7).hear({0, 30}, started) == Verdict::stay);
  auto growing = in_doubt(20, 7);
  CHECK(growing.hear({0, 8}, started) == Verdict::ask_again);
  CHECK(growing.hear({0, 30}, started + seconds(1)) == Verdict::start_over);
  auto impossible = in_doubt(20, 7, true);
  CHECK(impossible.hear({0, 30}, started) == Verdict::compare);
  CHECK(impossible.compared(Comparison::impossible) == Verdict::stay);
}
