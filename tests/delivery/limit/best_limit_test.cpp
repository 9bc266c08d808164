// The rate of an adaptive limit beside that of the best fixed limit, in virtual time and from several seeds.
#include "catch.h"
#include "delivery/limit/rate_story.h"

using namespace laneway;
using namespace laneway::delivery;
using namespace laneway::delivery::test;

namespace {

void check_rates(LimitKind kind, RateStory story, std::uint64_t seeds = 5, double least = 0.9) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    story.model.seed = seed;
    const double best =
        best_fixed_rate(story, {story.bounds.min, 20, 22, 100, 110, story.capacity, story.bounds.max});
    Followed followed(kind, story.model, story.capacity, story.bounds);
    const double share = rate_of(story, followed.server) / best;
    INFO("seed " << seed << ", share " << share << ", limit " << followed.limit.limit() << ", last change: "
                 << followed.last.from << " to " << followed.last.to << ", " << followed.last.words);
    CHECK(share >= least);
  }
}

}  // namespace

TEST_CASE("best limit: calls that fail at any limit do not lower the limit") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::aimd, LimitKind::gradient);
  const auto share = GENERATE(0.01, 0.02, 0.04, 0.1, 0.2);
  INFO("share of failing calls: " << share);
  SECTION("503, any limit is right") {
    check_rates(kind, {.model = failing(share), .capacity = 1000, .bounds = {2, 64}});
  }
  SECTION("429, any limit is right") {
    check_rates(kind, {.model = failing(share, Broken::answers_429), .capacity = 1000, .bounds = {2, 64}}, 2);
  }
  SECTION("503, and too many calls queue") { check_rates(kind, {.model = failing(share)}, 2); }
}

TEST_CASE("best limit: calls that hang at any limit do not lower the limit") {
  const auto share = GENERATE(0.01, 0.05, 0.2);
  INFO("share of hanging calls: " << share);
  check_rates(LimitKind::vegas, {.model = failing(share, Broken::hangs),
                                 .capacity = 1000,
                                 .bounds = {2, 64},
                                 .settling = seconds(90),
                                 .measured = seconds(200)});
}

TEST_CASE("best limit: a limit of two or three decides soundly, and leaves the minimum") {
  const auto share = GENERATE(0.04, 0.2);
  INFO("share of failing calls: " << share);
  SECTION("a capacity of three") { check_rates(LimitKind::vegas, {.model = failing(share), .capacity = 3}); }
  SECTION("calls of a second") {
    auto model = failing(share);
    model.service = seconds(1);
    model.timeout = seconds(30);
    check_rates(LimitKind::vegas, {.model = model,
                                   .capacity = 1000,
                                   .bounds = {2, 64},
                                   .settling = seconds(240),
                                   .measured = seconds(120)});
  }
}

TEST_CASE("best limit: too many calls are noticed above a constant share of failing calls") {
  const auto share = GENERATE(0.0, 0.04, 0.2);
  const auto overload = GENERATE(Overload::queues, Overload::refuses_503, Overload::refuses_429);
  const auto refusal = GENERATE(milliseconds(20), milliseconds(50));
  if (overload == Overload::queues && refusal > milliseconds(20)) return;
  INFO("share of failing calls: " << share);
  auto model = failing(share);
  model.overload = overload;
  model.refusal = refusal;
  for (const auto capacity : {100U, 20U, 200U}) check_rates(LimitKind::vegas, step_to(capacity, model), 2);
}

TEST_CASE("best limit: a queue in which calls time out is noticed above a constant share of failing calls") {
  auto model = failing(0.04);
  model.timeout = milliseconds(500);
  check_rates(LimitKind::vegas, {.model = model, .capacity = 20});
  check_rates(LimitKind::aimd, {.model = model, .capacity = 20, .settling = seconds(60)}, 2);
}

TEST_CASE("best limit: the limit falls when refusals come on top of a constant share of failing calls") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::aimd, LimitKind::gradient);
  auto model = failing(0.1);
  model.overload = GENERATE(Overload::refuses_503, Overload::refuses_429);
  model.refusal = milliseconds(50);
  Followed followed(kind, model, 1000, {2, 200});
  followed.server.run(seconds(60));
  CHECK(followed.limit.limit() == 200);
  followed.server.set_capacity(40);
  followed.server.run(seconds(20));
  CHECK(followed.limit.limit() <= 60);
  // The broken instance is repaired: what it dropped no longer hides what is too much.
  followed.server.set_failing(0);
  followed.server.run(seconds(60));
  CHECK(followed.limit.limit() <= 60);
}

TEST_CASE("best limit: an outage teaches nothing that lasts") {
  for (const double share : {0.3, 0.6, 1.0}) {
    auto model = failing(0.0);
    model.overload = Overload::refuses_503;
    model.refusal = milliseconds(50);
    const auto outage = [share](QueueingServer& server, Duration time) {
      server.set_failing(time < seconds(30) || time >= seconds(60) ? 0 : share);
    };
    INFO("share of failing calls in the outage: " << share);
    check_rates(LimitKind::vegas, {.model = model, .settling = seconds(90), .changes = outage}, 3);
  }
}

TEST_CASE("best limit: a part of the instances breaks while the limit is high") {
  const auto share = GENERATE(0.04, 0.2);
  const auto breaks = [share](QueueingServer& server, Duration time) {
    server.set_failing(time < seconds(30) ? 0 : share);
  };
  check_rates(LimitKind::vegas, {.model = failing(0), .settling = seconds(50), .changes = breaks});
}

TEST_CASE("best limit: calls of very different length do not keep the limit down") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  const auto times = GENERATE(Times::log_normal, Times::bimodal, Times::some_5s);
  const auto share = GENERATE(0.0, 0.04);
  const auto capacity = GENERATE(20U, 100U, 1000U);
  INFO("times " << static_cast<int>(times) << ", share of failing calls " << share << ", capacity "
                << capacity);
  auto model = failing(share);
  model.times = times;
  model.timeout = seconds(30);
  check_rates(kind, {.model = model, .capacity = capacity, .bounds = {2, capacity == 1000 ? 64U : 400U}}, 3);
}

TEST_CASE("best limit: the limit follows a tenfold drift within 20 s") {
  const auto share = GENERATE(0.0, 0.04);
  const auto slower = GENERATE(true, false);
  const auto settling = GENERATE(seconds(20), seconds(60));  // during the drift, and after it
  INFO((slower ? "slower" : "faster") << ", share of failing calls " << share);
  auto story = drift(slower, failing(share));
  story.settling = settling;
  check_rates(LimitKind::vegas, story, 3);
}

TEST_CASE("best limit: calls that fail in bursts do not lower the limit for long") {
  const auto period = GENERATE(seconds(4), seconds(12));
  INFO("bursts come every " << to_seconds(period) << " s");
  check_rates(LimitKind::vegas, bursts(period, {.model = failing(0), .measured = seconds(120)}), 5, 0.85);
}

TEST_CASE("best limit: a few very slow calls do not keep the limit down") {
  const auto kind = GENERATE(LimitKind::vegas, LimitKind::gradient);
  auto model = failing(GENERATE(0.0, 0.04));
  model.times = Times::some_5s;
  model.timeout = seconds(30);
  INFO("share of failing calls: " << model.failing);
  SECTION("any limit is right") {
    const auto max = GENERATE(256U, 400U);
    check_rates(kind, {.model = model, .capacity = 1000, .bounds = {2, max}});
  }
  SECTION("too many calls are refused") {
    model.overload = Overload::refuses_503;
    for (const auto capacity : {4U, 20U, 100U}) check_rates(kind, {.model = model, .capacity = capacity}, 2);
  }
  SECTION("the capacity changes, and too many calls queue") {
    model.failing = 0;
    for (const auto capacity : {100U, 20U, 200U}) check_rates(kind, step_to(capacity, model), 2);
  }
}

TEST_CASE("best limit: a small limit falls by as many calls as are refused") {
  auto model = failing(GENERATE(0.0, 0.04));
  model.times = GENERATE(Times::exponential, Times::log_normal, Times::bimodal);
  model.timeout = seconds(30);
  model.overload = Overload::refuses_503;
  check_rates(LimitKind::vegas, {.model = model, .capacity = 4, .bounds = {2, 8}});
}
