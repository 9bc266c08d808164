// A batch ends: what becomes of the records that always fail when no other record comes any more.
#include <cmath>

#include "captured_log.h"
#include "lane/attempts/quiet_simulation.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr double least_poison = 0.007;
constexpr double most_poison = 0.1;
constexpr std::size_t a_handful = 25;

/// The longest time that a poison record takes on a downstream that works.
double longest(const QuietStory& story) {
  double delays = story.attempts * (2.0 + story.poison_latency);
  for (const int delay : story.topics) delays += delay + 1 + story.poison_latency;
  return delays;
}

/// How long drains take and workers are busy, because of poison.
double kept_by_poison(const QuietStory& story) {
  const auto drains = static_cast<double>(story.events.size());
  return (drains + 2 * story.records * story.poison / story.workers) * story.poison_latency;
}

/// Every poison record is given up in time after the last event, and nothing else is; nobody waits.
void check_batch(const QuietStory& story) {
  QuietSimulation simulation(story);
  const auto outcomes = simulation.run();
  const double last = story.events.empty() ? 0 : story.events.back().first;
  const double came = std::max(story.records / story.rate, last) + kept_by_poison(story);
  const double deadline = came + longest(story) + 15;
  REQUIRE(deadline < story.seconds);
  for (int i = 0; i < story.records; ++i) {
    INFO("record " << i);
    if (simulation.is_poison(i)) {
      REQUIRE(outcomes.letters.contains(i));
      REQUIRE(outcomes.given_up.at(i) < deadline);
    } else {
      REQUIRE_FALSE(outcomes.letters.contains(i));
      REQUIRE(outcomes.done.at(i) < came + 5);
    }
  }
  REQUIRE(outcomes.not_closed == 0);
}

/// Every record is done or given up, and poison is given up. Returns how many others are given up.
std::size_t good_letters(const QuietStory& story, const QuietSimulation& simulation,
                         const QuietOutcomes& outcomes) {
  std::size_t letters = 0;
  for (int i = 0; i < story.records; ++i) {
    INFO("record " << i);
    const bool letter = outcomes.letters.contains(i);
    REQUIRE((letter || outcomes.done.contains(i)));
    if (simulation.is_poison(i)) REQUIRE(letter);
    letters += letter && !simulation.is_poison(i);
  }
  return letters;
}

std::string text(const QuietStory& story) {
  std::string text = std::to_string(story.records) + " records, poison " + std::to_string(story.poison) +
                     ", " + std::to_string(story.topics.size()) + " topics, attempts " +
                     std::to_string(story.attempts);
  for (const auto& [at, event] : story.events)
    text += ", event " + std::to_string(static_cast<int>(event)) + " at " + std::to_string(at);
  return text + ", dice " + std::to_string(story.dice);
}

}  // namespace

TEST_CASE("when a batch ends, its poison is given up in time and the breaker stays closed", "[one-thread]") {
  CapturedLog log;
  for (const double poison : {least_poison, 0.02, most_poison})
    for (const auto& topics : {std::vector<int>{}, std::vector<int>{2, 4}}) {
      QuietStory story{.poison = poison, .topics = topics};
      story.attempts = topics.empty() ? 5 : 2;
      INFO(text(story));
      check_batch(story);
    }
}

TEST_CASE("slow poison is not an outage when a batch ends before its failures", "[one-thread]") {
  CapturedLog log;
  for (const double poison : {least_poison, 0.02, most_poison})
    for (const double poison_latency : {0.05, 0.5, 5.0})
      for (const auto& topics : {std::vector<int>{}, std::vector<int>{2, 4}}) {
        QuietStory story{.poison = poison, .topics = topics};
        story.attempts = topics.empty() ? 3 : 1;
        story.poison_latency = poison_latency;
        // Poison keeps the workers of all four lanes busy for a while.
        story.seconds = 40 + 2 * longest(story) + story.records * poison * poison_latency / 8;
        for (story.dice = 1; story.dice <= 3; ++story.dice) {
          INFO(text(story) << ", poison takes " << poison_latency);
          QuietSimulation simulation(story);
          const auto outcomes = simulation.run();
          REQUIRE(outcomes.not_closed == 0);
          for (int i = 0; i < story.records; ++i)
            REQUIRE(outcomes.letters.contains(i) == simulation.is_poison(i));
        }
      }
}

TEST_CASE("poison that is answered faster than other records is not an outage, from the first second on",
          "[one-thread]") {
  CapturedLog log;
  for (const double rate : {500.0, 2000.0, 100000.0})
    for (const double latency : {0.05, 1.2})
      for (const std::uint32_t workers : {4, 64}) {
        QuietStory story{.poison = most_poison, .rate = rate, .latency = latency, .poison_latency = 0.001};
        story.workers = workers;
        story.seconds = 30 + story.records / rate + story.records * latency / (workers * story.partitions);
        for (story.dice = 1; story.dice <= 3; ++story.dice) {
          INFO(text(story) << ", workers " << workers << ", rate " << rate << ", good records take "
                           << latency);
          QuietSimulation simulation(story);
          const auto outcomes = simulation.run();
          REQUIRE(outcomes.not_closed == 0);
          for (int i = 0; i < story.records; ++i)
            REQUIRE(outcomes.letters.contains(i) == simulation.is_poison(i));
        }
      }
}

TEST_CASE("a short outage costs a handful of records, also while earlier calls still run", "[one-thread]") {
  CapturedLog log;
  for (const double latency : {0.05, 0.6, 1.2})
    for (const std::uint32_t workers : {4, 16})
      for (const std::uint32_t attempts : {1, 3})
        for (const double from : {0.1, 2.0})
          for (const double failing : {0.001, latency}) {
            QuietStory story{
                .attempts = attempts, .rate = 300, .latency = latency, .poison_latency = failing};
            story.poison = 0;
            story.workers = workers;
            story.out_from = from;
            story.out_until = from + 0.5;
            story.seconds = 60 + story.records * latency / (workers * story.partitions);
            INFO(text(story) << ", workers " << workers << ", records take " << latency << ", failures "
                             << failing << ", out from " << from);
            CHECK(QuietSimulation(story).run().letters.size() <= a_handful);
          }
}

TEST_CASE("a batch ends despite a stop, a death, a join or a leave at any moment", "[one-thread]") {
  CapturedLog log;
  for (const auto& events : {std::vector<std::pair<double, Event>>{{1.1, Event::stop}},
                             {{0.3, Event::kill}},
                             {{1.6, Event::kill}},
                             {{0.2, Event::join}},
                             {{1.3, Event::join}, {3.2, Event::leave}},
                             {{1.1, Event::stop}, {2.2, Event::stop}, {2.6, Event::kill}}})
    for (const double poison : {least_poison, most_poison})
      for (const auto& topics : {std::vector<int>{}, std::vector<int>{2, 4}}) {
        QuietStory story{.poison = poison, .topics = topics};
        story.attempts = topics.empty() ? 5 : 2;
        story.events = events;
        INFO(text(story));
        check_batch(story);
      }
}

TEST_CASE("poison whose first failures come during a drain is given up by the next owner", "[one-thread]") {
  CapturedLog log;
  for (const auto event : {Event::stop, Event::join})
    for (const auto& topics : {std::vector<int>{}, std::vector<int>{2, 4}}) {
      QuietStory story{.poison = most_poison, .topics = topics, .workers = 64, .poison_latency = 1};
      story.attempts = topics.empty() ? 3 : 1;
      story.events = {{0.6, event}};  // all records that work are done
      story.seconds = 60;
      INFO(text(story));
      check_batch(story);
    }
}

TEST_CASE("a batch ends although processes stop, die, join and leave at random moments", "[one-thread]") {
  CapturedLog log;
  std::mt19937_64 dice(7);
  const auto any = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(dice); };
  for (int i = 0; i < 40; ++i) {
    QuietStory story;
    story.dice = dice();
    story.poison = any(least_poison, most_poison);
    if (any(0, 1) < 0.5) story.topics = {1 + static_cast<int>(any(0, 3)), 4 + static_cast<int>(any(0, 3))};
    story.attempts = 1 + static_cast<std::uint32_t>(any(story.topics.empty() ? 2 : 0, 5));
    story.rate = any(200, 4000);
    story.partitions = 1 + static_cast<std::uint32_t>(any(0, 6));
    if (any(0, 1) < 0.3) story.workers = 64;
    const bool slow = any(0, 1) < 0.4;
    if (slow) story.poison_latency = any(0.05, 1);
    bool joined = false;
    for (double at = any(0, 4); at < 15 && any(0, 1) < 0.8; at += any(0.01, 5)) {
      auto event = static_cast<Event>(static_cast<int>(any(0, 4)));
      if (event == Event::join && joined) event = Event::leave;
      if (event == Event::leave && !joined) event = Event::join;
      if (event == Event::kill && slow) event = Event::stop;  // see the limits in docs/outages.md
      joined = event == Event::join;
      story.events.emplace_back(at, event);
    }
    INFO(text(story) << ", poison takes " << story.poison_latency << ", workers " << story.workers);
    check_batch(story);
  }
}

TEST_CASE("an outage at the end of a batch costs a handful of records, also when processes restart",
          "[one-thread]") {
  CapturedLog log;
  for (const double poison : {0.0, least_poison, most_poison})
    for (const auto& topics : {std::vector<int>{}, std::vector<int>{2, 4}})
      for (const double from : {0.3, 0.45, 0.49})
        for (const auto& events : {std::vector<std::pair<double, Event>>{},
                                   {{20, Event::stop}},
                                   {{2, Event::kill}, {30, Event::join}, {40, Event::stop}}}) {
          QuietStory story{.poison = poison, .topics = topics};
          story.attempts = topics.empty() ? 5 : 2;
          story.events = events;
          story.out_from = from;
          story.out_until = 60;
          INFO(text(story) << ", out from " << from);
          QuietSimulation simulation(story);
          const auto outcomes = simulation.run();
          CHECK(good_letters(story, simulation, outcomes) <= a_handful);
          CHECK(outcomes.last_not_closed < story.out_until + 15);
        }
}

TEST_CASE("with any latencies, an outage costs a handful of records, and then all poison is given up",
          "[one-thread]") {
  CapturedLog log;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 dice(seed);
    const auto any = [&](double low, double high) {
      return std::uniform_real_distribution<>(low, high)(dice);
    };
    const auto of_any_size = [&](double low, double high) {
      return std::exp(any(std::log(low), std::log(high)));
    };
    QuietStory story;
    story.dice = dice();
    story.poison = any(0, 1) < 0.3 ? 0 : of_any_size(least_poison, most_poison);
    if (any(0, 1) < 0.3) story.topics = {1 + static_cast<int>(any(0, 3)), 4 + static_cast<int>(any(0, 3))};
    story.attempts = 1 + static_cast<std::uint32_t>(any(0, 5));
    story.rate = of_any_size(50, 4000);
    story.partitions = 1 + static_cast<std::uint32_t>(any(0, 6));
    story.workers = static_cast<std::uint32_t>(of_any_size(1, 70));
    story.latency = of_any_size(0.002, 1.4);
    story.poison_latency = any(0, 1) < 0.3 ? story.latency : of_any_size(0.0005, 1.4);
    if (any(0, 1) < 0.5) story.varies = any(0.1, 1);
    const double capacity = story.workers * story.partitions / story.latency;
    const bool outage = any(0, 1) < 0.6;
    if (outage) {
      story.out_from = any(0, story.records / story.rate);
      story.out_until = story.out_from + of_any_size(0.05, 5);
    }
    const double of_poison = story.attempts * story.records * story.poison * story.poison_latency;
    story.seconds = 60 + longest(story) + 3 * story.records / std::min(story.rate, capacity) +
                    2 * of_poison / (story.workers * story.partitions);
    INFO("seed " << seed << ": " << text(story));
    QuietSimulation simulation(story);
    const auto outcomes = simulation.run();
    // With one attempt, calls from before the outage that still work give up those that fail meanwhile.
    REQUIRE(good_letters(story, simulation, outcomes) <=
            (outage ? (story.attempts == 1 ? 4 : 1) * a_handful : 0));
    if (!outage) REQUIRE(outcomes.not_closed == 0);
    if (outage) REQUIRE(outcomes.last_not_closed < story.out_until + 15);
  }
}
