// The figures of docs/adaptive-concurrency.md: the rate of each algorithm as a share of the best fixed
// limit's, with eight seeds, in every case that the page names. Hidden, because it takes minutes:
//   build/tests/test_delivery "[best-limit-table]"
#include <cstdio>
#include <string>

#include "catch.h"
#include "delivery/limit/rate_story.h"

using namespace laneway;
using namespace laneway::delivery;
using namespace laneway::delivery::test;

namespace {

struct Row {
  std::string name;
  std::vector<RateStory> stories;
};

constexpr std::uint32_t any = 1000;  // a capacity that no limit reaches
const std::vector<double> few_fail{0.0, 0.04};

Row constant_shares(Broken broken) {
  Row row{broken == Broken::answers_503 ? "1 to 20 % get a 503" : "1 to 20 % get a 429", {}};
  for (const double share : {0.01, 0.02, 0.04, 0.1, 0.2}) {
    auto model = failing(share, broken);
    row.stories.push_back({.model = model, .capacity = any, .bounds = {2, 64}});
    row.stories.push_back({.model = model});
    model.overload = Overload::refuses_503;
    for (const auto refusal : {milliseconds(1), milliseconds(50)}) {
      model.refusal = refusal;
      row.stories.push_back({.model = model});
    }
  }
  return row;
}

Row hanging(double share) {
  return {std::to_string(static_cast<int>(share * 100 + 0.5)) + " % hang for 2 s",
          {{.model = failing(share, Broken::hangs),
            .capacity = any,
            .bounds = {2, 64},
            .settling = seconds(90),
            .measured = seconds(60)}}};
}

Row in_bursts() {
  Row row{"10 % fail, in bursts of 40 %", {}};
  for (const Duration period : {milliseconds(1200), milliseconds(4000), milliseconds(12000)}) {
    row.stories.push_back(
        bursts(period, {.model = failing(0), .capacity = any, .bounds = {2, 64}, .measured = seconds(120)}));
    row.stories.push_back(bursts(period, {.model = failing(0), .measured = seconds(120)}));
  }
  return row;
}

const char* name_of(Times times) {
  if (times == Times::log_normal) return "log-normal";
  if (times == Times::bimodal) return "bimodal";
  if (times == Times::some_5s) return "1 % take 5 s";
  return "35 to 65 ms";
}

ServerModel model_of(Times times, double share, Overload overload = Overload::queues) {
  auto model = failing(share);
  model.times = times;
  model.timeout = seconds(30);
  model.overload = overload;
  return model;
}

Row steps(Times times, Overload overload, Duration refusal = milliseconds(1)) {
  Row row{std::string("steps, ") + name_of(times) +
              (overload == Overload::queues ? ", queues"
               : refusal == milliseconds(1) ? ", refused at once"
                                            : ", refused as slowly as done"),
          {}};
  for (const double share : few_fail)
    for (const auto capacity : {100U, 20U, 200U}) {
      row.stories.push_back(step_to(capacity, model_of(times, share, overload)));
      row.stories.back().model.refusal = refusal;
    }
  return row;
}

Row drifts(bool slower, Times times) {
  Row row{std::string(slower ? "ten times slower within 20 s, " : "ten times faster within 20 s, ") +
              name_of(times),
          {}};
  for (const double share : few_fail)
    for (const auto capacity : {50U, any})
      for (const auto settling : {seconds(20), seconds(60)}) {
        row.stories.push_back(drift(slower, model_of(times, share)));
        row.stories.back().capacity = capacity;
        row.stories.back().settling = settling;
      }
  return row;
}

Row any_limit(Times times) {
  Row row{std::string(name_of(times)) + ", any limit is right", {}};
  for (const double share : few_fail)
    for (const auto max : {8U, 64U, 256U, 400U})
      row.stories.push_back({.model = model_of(times, share), .capacity = any, .bounds = {2, max}});
  return row;
}

Row excess(Times times, Overload overload) {
  Row row{std::string(name_of(times)) + (overload == Overload::queues ? ", queues" : ", refused at once"),
          {}};
  for (const double share : few_fail)
    for (const auto capacity : {4U, 20U, 100U})
      for (const auto max : {8U, 400U})
        if (max > 2 * capacity || capacity == 4)
          row.stories.push_back({.model = model_of(times, share, overload),
                                 .capacity = capacity,
                                 .bounds = {2, max},
                                 .measured = seconds(60)});
  return row;
}

struct Shares {
  double sum = 0;
  double least = 2;
};

double best_rate(const RateStory& story) {
  if (story.capacity == any) return best_fixed_rate(story, {story.bounds.max});
  if (story.changes && story.bounds.max == 250)
    return best_fixed_rate(story, {20, 22, 25, 100, 110, 125, 220, 250});
  return best_fixed_rate(story, {story.capacity, story.capacity * 11 / 10, story.capacity * 5 / 4});
}

void print(const std::vector<Row>& rows) {
  constexpr std::uint64_t seeds = 8;
  constexpr std::array kinds{LimitKind::vegas, LimitKind::aimd, LimitKind::gradient};
  std::printf("average (least) of  vegas          aimd           gradient\n");
  for (const auto& row : rows) {
    std::array<Shares, kinds.size()> shares;
    for (auto story : row.stories)
      for (story.model.seed = 1; story.model.seed <= seeds; ++story.model.seed) {
        const double best = best_rate(story);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
          Followed followed(kinds[i], story.model, story.capacity, story.bounds);
          const double share = rate_of(story, followed.server) / best;
          shares[i].sum += share;
          shares[i].least = std::min(shares[i].least, share);
        }
      }
    for (const auto& [sum, least] : shares)
      std::printf("%.3f (%.3f)  ", sum / static_cast<double>(seeds * row.stories.size()), least);
    std::printf("%s\n", row.name.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

TEST_CASE("rates for the documentation: calls that fail", "[.][best-limit-table]") {
  print({constant_shares(Broken::answers_503), constant_shares(Broken::answers_429), hanging(0.01),
         hanging(0.05), hanging(0.2), in_bursts()});
}

TEST_CASE("rates for the documentation: calls of different length", "[.][best-limit-table]") {
  std::vector<Row> rows;
  for (const auto times : {Times::log_normal, Times::bimodal, Times::some_5s}) {
    rows.push_back(any_limit(times));
    rows.push_back(excess(times, Overload::queues));
    rows.push_back(excess(times, Overload::refuses_503));
  }
  print(rows);
}

TEST_CASE("rates for the documentation: four places", "[.][best-limit-table]") {
  Row row{"1 % take 5 s, four places, refused as slowly as done", {}};
  for (const double share : few_fail) {
    row.stories.push_back({.model = model_of(Times::some_5s, share, Overload::refuses_503),
                           .capacity = 4,
                           .measured = seconds(60)});
    row.stories.back().model.refusal = milliseconds(50);
  }
  print({row});
}

TEST_CASE("rates for the documentation: a downstream that changes", "[.][best-limit-table]") {
  std::vector<Row> rows;
  for (const auto times : {Times::varying, Times::log_normal, Times::bimodal, Times::some_5s}) {
    rows.push_back(drifts(true, times));
    rows.push_back(drifts(false, times));
    rows.push_back(steps(times, Overload::queues));
    rows.push_back(steps(times, Overload::refuses_503, milliseconds(50)));
    rows.push_back(steps(times, Overload::refuses_503));
  }
  print(rows);
}
