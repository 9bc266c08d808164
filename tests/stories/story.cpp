#include "stories/story.h"

#include <algorithm>
#include <array>

namespace laneway::stories {
namespace {

using Kind = Fault::Kind;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  int between(int least, int most) {
    return least + static_cast<int>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

bool writes_to_kafka(Work work) { return work == Work::produce || work == Work::transactional; }

/// Whether the story's service and cluster can have this fault.
bool possible(const Story& story, Kind kind) {
  const bool downstream = kind >= Kind::outage_503;
  if (writes_to_kafka(story.work) && (downstream || kind == Kind::skip)) return false;
  if (story.work == Work::transactional && kind == Kind::member_is_abandoned) return false;
  if (story.brokers == 1 && (kind == Kind::coordinator_moves || kind == Kind::leader_moves)) return false;
  return kind != Kind::skip || (story.dead_letters && story.poison > 0);
}

void draw_configuration(Story& story, Dice& dice) {
  story.brokers = dice.between(1, 2);
  story.partitions = dice.between(1, 4);
  story.members = dice.between(1, 3);
  story.consumers = static_cast<std::uint32_t>(dice.one_in(4) ? 2 : 1);
  story.cooperative = dice.one_in(2);
  story.static_ids = dice.one_in(5);
  story.pattern = dice.one_in(5);
  story.work = dice.one_of({Work::library, Work::library, Work::library, Work::asynchronous,
                            Work::asynchronous, Work::produce, Work::transactional});
  if (story.work == Work::transactional) story.consumers = 1;
  story.order =
      dice.one_of({config::Order::none, config::Order::none, config::Order::key, config::Order::partition});
  story.workers = static_cast<std::uint32_t>(dice.between(1, 8));
  story.queue = static_cast<std::uint32_t>(dice.one_of({0, 4, 32, 256}));
  story.max_incomplete = static_cast<std::uint32_t>(dice.one_of({20, 200, 10000}));
  story.attempts = static_cast<std::uint32_t>(dice.between(2, 4));
  story.dead_letters = !dice.one_in(5);
  story.gives_back = dice.one_in(3);
  story.commit_ms = dice.one_of({20, 100, 1000});
  story.drain_ms = dice.one_of({1000, 3000});
  if (writes_to_kafka(story.work)) return;
  story.pools =
      dice.one_of({Pools::none, Pools::none, Pools::none, Pools::by_key, Pools::each, Pools::stages});
  if (story.pools == Pools::each) story.order = config::Order::none;
  story.retry_topics =
      story.order == config::Order::none && story.dead_letters && !story.pattern && dice.one_in(2);
}

/// With dice of its own, so that the other stories stay as they are.
void draw_parking(Story& story, Dice dice) {
  const bool neighbours = story.pools == Pools::by_key || story.pools == Pools::each;
  if (!neighbours || dice.one_in(3)) return;
  story.order = config::Order::none;
  story.dead_letters = story.retry_topics = true;
  story.pattern = false;
  story.park_ms = dice.one_of({50, 300});
}

/// One downstream that is out while others are not.
void draw_outage(Story& story, Dice dice) {
  if (story.park_ms == 0) return;
  const int at = dice.between(0, 1500);
  const int lasts = dice.between(400, 1400);
  story.faults.push_back({Kind::outage_503, at, lasts, static_cast<std::uint32_t>(dice.between(1, 3))});
}

void draw_load(Story& story, Dice& dice) {
  story.burst = dice.one_in(2);
  story.keys = dice.one_of({1, 5, 100});
  if (story.park_ms > 0) story.keys = std::max(story.keys, 5);
  story.bytes = dice.one_of({20, 20, 200, 5000});
  story.compression = dice.one_of({"none", "lz4", "zstd"});
  story.old = dice.one_in(4);
  story.records = dice.between(20, 300);
  if (writes_to_kafka(story.work)) return;
  story.work_ms = dice.one_of({0, 1, 1, 5, 30, 250});
  const bool in_turn = story.order == config::Order::partition ||
                       ((story.order == config::Order::key || story.pools == Pools::each) && story.keys == 1);
  const int at_once = in_turn ? 1 : std::min(static_cast<int>(story.workers), story.keys + 3);
  if (story.work_ms > 0) story.records = std::min(story.records, 4 + 3000 * at_once / story.work_ms);
  if (story.dead_letters && dice.one_in(2)) {
    story.poison = dice.one_of({7, 20, 100});
    // A pool with `each` has a downstream for each key: if an outage ends while poison is all that is left of
    // a key, nothing shows that the outage is over.
    // With parking it goes round in the retry topics.
    story.rejects = dice.one_in(2) || story.pools == Pools::each || story.park_ms > 0;
  }
  if (dice.one_in(5)) story.hanging = 10;
}

/// Each time of a story is short, so that hundreds are played in minutes: faults begin within 4 s.
void draw_faults(Story& story, Dice& dice) {
  const auto count = dice.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = static_cast<Kind>(dice.below(fault_kinds));
    fault.at = dice.between(0, 4000);
    fault.lasts = dice.between(100, 1400);
    fault.choice = static_cast<std::uint32_t>(dice.below(1 << 20));
    if (possible(story, fault.kind)) story.faults.push_back(fault);
  }
  std::sort(story.faults.begin(), story.faults.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
}

void draw_limits(Story& story, Dice& dice) {
  story.memory_mib = dice.one_of({1, 256});
  story.stall_ms = dice.one_of({1000, 60000});
}

const char* text_of(Work work) {
  constexpr std::array names{"a handler of the program, blocking", "a handler of the program, asynchronous",
                             "handler.produce", "handler.produce with transactions"};
  return names[static_cast<std::size_t>(work)];
}

const char* text_of(Pools pools) {
  constexpr std::array names{"no pools", "two pools, by the key", "two pools, one with each",
                             "two pools, one after the other"};
  return names[static_cast<std::size_t>(pools)];
}

const char* text_of(config::Order order) {
  constexpr std::array names{"no order", "order by key", "order by partition"};
  return names[static_cast<std::size_t>(order)];
}

template <class Change>
void try_change(const Story& story, std::vector<Story>& all, Change change) {
  Story other = story;
  change(other);
  if (other.text() != story.text()) all.push_back(std::move(other));
}

}  // namespace

const char* name_of(Kind kind) {
  constexpr std::array<const char*, fault_kinds> names{"a broker answers with errors",
                                                       "the coordinator moves",
                                                       "a leader moves",
                                                       "a broker is out",
                                                       "a broker is slow",
                                                       "a member joins",
                                                       "a member leaves",
                                                       "a member is abandoned",
                                                       "a member is expelled",
                                                       "the settings are reloaded",
                                                       "a partition is suspended and resumed",
                                                       "a suspended partition moves to another member",
                                                       "a failing record is skipped",
                                                       "the downstream answers 503",
                                                       "the downstream answers 500",
                                                       "the downstream hangs",
                                                       "the downstream is slow"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Bug bug) {
  constexpr std::array<const char*, bugs> names{"none",
                                                "a commit is one too high",
                                                "what was taken is committed",
                                                "a committed map has unfinished records",
                                                "an older offset is committed",
                                                "a record is skipped",
                                                "a large record is left out",
                                                "reading begins behind what is committed",
                                                "a finished record runs again",
                                                "commits are forgotten",
                                                "a commit of several partitions is refused for good",
                                                "a member loses its coordinator for good",
                                                "a dead letter is lost",
                                                "a dead letter is written twice",
                                                "a record for a retry topic is lost",
                                                "a record for a retry topic is written twice",
                                                "a parked record is lost",
                                                "a parked record is written twice",
                                                "a dead letter has the record's timestamp",
                                                "a refused dead letter stops its lane for good",
                                                "poison is taken for an outage",
                                                "an outage is taken for poison",
                                                "a rejected record counts as done",
                                                "a hanging record takes its neighbours along",
                                                "the service consumes its own dead letters",
                                                "a map of another topic counts",
                                                "a suspension does not hold",
                                                "a resume is forgotten",
                                                "a suspension is not handed over",
                                                "the order is ignored",
                                                "more workers than allowed",
                                                "more memory than allowed",
                                                "an assigned partition is not read",
                                                "a drain keeps its whole queue",
                                                "a drain is cut short",
                                                "a service is never ready again",
                                                "a lane that makes no progress is called ready"};
  return names[static_cast<std::size_t>(bug)];
}

Story Story::draw(std::uint64_t seed) {
  Dice dice(seed);
  Story story;
  story.seed = seed;
  story.name = std::to_string(seed);
  draw_configuration(story, dice);
  draw_parking(story, Dice(~seed));
  draw_load(story, dice);
  draw_faults(story, dice);
  draw_outage(story, Dice(seed + 1'000'000'007));
  draw_limits(story, dice);
  return story;
}

Story Story::named(const std::string& name) {
  std::size_t at = 0;
  const auto number = [&] {
    std::size_t length = 0;
    const auto found = std::stoul(name.substr(at), &length);
    at += length;
    return found;
  };
  const auto seed = number();
  const bool planted = at < name.size() && name[at] == '+';
  if (planted) ++at;
  auto story = planted ? with(static_cast<Bug>(number()), seed) : draw(seed);
  while (at < name.size()) {
    ++at;
    story = story.smaller().at(number());
  }
  return story;
}

std::string Story::text() const {
  const auto number = [](auto count, const char* what) { return std::to_string(count) + ' ' + what; };
  std::string text = "seed " + std::to_string(seed) + ":\n  ";
  text += number(brokers, "brokers, ") + number(partitions, "partitions, ") +
          number(members, "services with ") + number(consumers, "consumers each, ") +
          (cooperative ? "cooperative-sticky" : "range") + (static_ids ? ", static members" : "") +
          (pattern ? ", topics by a pattern" : "") + "\n  ";
  text += std::string(text_of(work)) + ", " + text_of(order) + ", " + text_of(pools) + ", " +
          number(workers, "workers, a queue of ") + number(queue, "records, at most ") +
          number(max_incomplete, "unfinished, ") + number(attempts, "attempts") +
          (dead_letters ? ", dead letters" : "") + (retry_topics ? ", retry topics of 100 and 400 ms" : "") +
          (park_ms > 0 ? ", parking after " + number(park_ms, "ms") : "") + ", a drain of " +
          number(drain_ms, "ms") + (gives_back ? " that gives back" : "") + ", commits each " +
          number(commit_ms, "ms, ") + number(memory_mib, "MiB for records, a stall is ") +
          number(stall_ms, "ms\n  ");
  text += number(records, "records a partition ") + (burst ? "at once" : "over 2 s") + ", " +
          number(keys, "keys, ") + number(bytes, "bytes, compression ") + compression +
          (old ? ", a year old" : "") + ", " + number(work_ms, "ms of work");
  if (poison > 0) text += ", " + number(poison, "per mille ") + (rejects ? "rejected" : "failing each time");
  if (hanging > 0) text += ", " + number(hanging, "per mille hang once");
  for (const auto& fault : faults)
    text += "\n  " + std::to_string(fault.at) + " ms: " + name_of(fault.kind) + " (" +
            std::to_string(fault.lasts) + " ms, choice " + std::to_string(fault.choice) + ")";
  if (bug != Bug::none) text += std::string("\n  planted: ") + name_of(bug);
  return text;
}

std::vector<Story> Story::smaller() const {
  std::vector<Story> all;
  const auto without = [&](auto change) { try_change(*this, all, change); };
  if (faults.size() > 1) without([](Story& story) { story.faults.clear(); });
  for (std::size_t i = 0; i < faults.size(); ++i)
    without([i](Story& story) { story.faults.erase(story.faults.begin() + static_cast<std::ptrdiff_t>(i)); });
  without([](Story& story) { story.members = 1; });
  without([](Story& story) { story.partitions = std::max(1, story.partitions / 2); });
  without([](Story& story) { story.records = std::max(1, story.records / 2); });
  without([](Story& story) { story.pools = Pools::none, story.park_ms = 0; });
  without([](Story& story) { story.retry_topics = false, story.park_ms = 0; });
  without([](Story& story) { story.park_ms = 0; });
  without([](Story& story) { story.order = config::Order::none; });
  without([](Story& story) { story.poison = 0; });
  without([](Story& story) { story.hanging = 0; });
  without([](Story& story) { story.consumers = 1; });
  without([](Story& story) { story.brokers = std::max(1, story.brokers - 1); });
  without([](Story& story) { story.static_ids = story.pattern = story.gives_back = false; });
  without([](Story& story) { story.old = false; });
  without([](Story& story) { story.compression = "none", story.bytes = 20; });
  without([](Story& story) { story.work_ms = std::min(story.work_ms, 1); });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].name = name + '/' + std::to_string(i);
  for (auto& story : all)
    std::erase_if(story.faults, [&](const Fault& fault) { return !possible(story, fault.kind); });
  return all;
}

}  // namespace laneway::stories
