// The ring of samples and events: bounds, numbers, and clocks that jump.
#include "service/timeline/timeline.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using Level = TimelineEvent::Level;
using Breaker = delivery::BreakerState;

namespace {

constexpr std::int64_t begun = 1'000'000;

TimePoint at(std::int64_t second) { return TimePoint(seconds(100 + second)); }

/// A look a second from `from` to before `to`; the lag is the second.
void look(Timeline& timeline, std::int64_t from, std::int64_t to, std::int64_t wall_ahead_ms = 0) {
  for (auto second = from; second < to; ++second)
    timeline.look({.lag = second}, at(second), begun + second * 1000 + wall_ahead_ms);
}

}  // namespace

TEST_CASE("a sample is kept every five seconds, with the worst values since the last sample") {
  Timeline timeline(begun);
  timeline.look({.lag = 7}, at(0), begun);
  timeline.look({.ready = false}, at(1), begun + 1000);
  timeline.look({.breaker = Breaker::open}, at(2), begun + 2000);
  timeline.look({.breaker = Breaker::half_open}, at(3), begun + 3000);
  CHECK(timeline.since(0, begun).samples.size() == 1);
  CHECK_FALSE(timeline.is_due(at(4)));
  CHECK(timeline.is_due(at(5)));
  timeline.look({.lag = 9}, at(5), begun + 5000);
  timeline.look({.lag = 11}, at(10), begun + 10'000);
  const auto samples = timeline.since(0, begun).samples;
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].lag == 7);
  CHECK(samples[0].ready);
  CHECK(samples[1].lag == 9);
  CHECK(samples[1].at_ms == begun + 5000);
  CHECK_FALSE(samples[1].ready);
  CHECK(samples[1].breaker == Breaker::open);
  CHECK(samples[2].ready);
  CHECK(samples[2].breaker == Breaker::closed);
}

TEST_CASE("six hours are kept, and then the oldest samples make room") {
  Timeline timeline(begun);
  const auto in_all = static_cast<std::int64_t>(Timeline::most_samples) + 100;
  look(timeline, 0, in_all * 5);
  CHECK_FALSE(timeline.since(0, begun).complete);
  const auto samples = timeline.since(0, begun).samples;
  REQUIRE(samples.size() == Timeline::most_samples);
  CHECK(samples.front().lag == 500);
  CHECK(samples.back().lag == (in_all - 1) * 5);
  CHECK(samples.back().at_ms - samples.front().at_ms == 6 * 3600 * 1000 - 5000);
  for (std::size_t i = 1; i < samples.size(); ++i)
    if (samples[i].number != samples[i - 1].number + 1) FAIL("a gap at " << i);
}

TEST_CASE("a reader that knows a part gets the rest") {
  Timeline timeline(begun);
  look(timeline, 0, 10);
  timeline.add(Level::bad, "first", begun + 9000);
  const auto first = timeline.since(0, begun + 9500);
  CHECK(first.now_ms == begun + 9500);
  CHECK(first.complete);
  CHECK(first.started_ms == begun);
  CHECK(first.samples.size() == 2);
  REQUIRE(first.events.size() == 1);
  CHECK(first.last == 3);
  const auto nothing = timeline.since(first.last, begun);
  CHECK(nothing.samples.empty());
  CHECK(nothing.events.empty());
  CHECK(nothing.last == 3);
  look(timeline, 10, 11);
  timeline.amend(Level::bad, "first, and more", begun + 12'000);
  const auto rest = timeline.since(first.last, begun);
  REQUIRE(rest.samples.size() == 1);
  CHECK(rest.samples[0].lag == 10);
  REQUIRE(rest.events.size() == 1);
  CHECK(rest.events[0].id == first.events[0].id);
  CHECK(rest.events[0].text == "first, and more");
  CHECK(rest.events[0].since_ms == begun + 9000);
  CHECK(rest.events[0].at_ms == begun + 12'000);
  CHECK(timeline.since(0, begun).events.size() == 1);
}

TEST_CASE("a reader that knows more than there is, as after a restart, gets only the new start") {
  Timeline timeline(begun + 5);
  look(timeline, 0, 10);
  const auto news = timeline.since(1000, begun);
  CHECK(news.samples.empty());
  CHECK(news.started_ms == begun + 5);
  CHECK(news.last == 2);
}

TEST_CASE("events are bounded in number and length") {
  Timeline timeline(begun);
  for (std::size_t i = 0; i < Timeline::most_events + 5; ++i)
    timeline.add(Level::plain, std::to_string(i), begun);
  CHECK(timeline.since(0, begun).events.size() == Timeline::most_events);
  CHECK(timeline.since(0, begun).events.front().text == "5");
  std::string accents;
  while (accents.size() < 1000) accents += "é";
  timeline.add(Level::plain, accents, begun);
  timeline.add(Level::plain, 'x' + accents, begun);
  const auto events = timeline.since(0, begun).events;
  for (const auto* event : {&events[events.size() - 2], &events.back()}) {
    CHECK(event->text.size() <= Timeline::most_text);
    CHECK(event->text.ends_with("é…"));
  }
}

TEST_CASE("a wall clock that is set back moves the kept samples, and no time goes back") {
  Timeline timeline(begun);
  look(timeline, 0, 20);
  timeline.add(Level::plain, "before", begun + 19'000);
  look(timeline, 20, 30, -3'600'000);
  const auto news = timeline.since(0, begun);
  REQUIRE(news.samples.size() == 6);
  CHECK(news.samples[4].at_ms == begun + 20'000 - 3'600'000);
  for (std::size_t i = 1; i < news.samples.size(); ++i)
    CHECK(news.samples[i - 1].at_ms <= news.samples[i].at_ms);
  CHECK(news.samples[3].at_ms - news.samples[0].at_ms == 15'000);
  CHECK(news.events[0].at_ms <= news.samples[4].at_ms);
}

TEST_CASE("a wall clock that is set forward, or a process that stood still, leaves a gap") {
  Timeline timeline(begun);
  look(timeline, 0, 10);
  look(timeline, 10, 20, 7'200'000);
  const auto samples = timeline.since(0, begun).samples;
  REQUIRE(samples.size() == 4);
  CHECK(samples[2].at_ms - samples[1].at_ms == 7'205'000);
}
