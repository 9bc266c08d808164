#include "app/demo/scenario.h"

#include <algorithm>
#include <thread>

#include "app/process/signals.h"

namespace laneway::demo {
namespace {

constexpr Duration turn = milliseconds(20);
constexpr Duration start_limit = seconds(30);
constexpr Duration overtime = seconds(60);

}  // namespace

Scenario::Scenario(Environment& environment, std::uint64_t records, Duration length)
    : environment_(environment),
      plan_(records, length),
      length_(length),
      start_(SteadyClock::now()),
      now_(start_) {}

Outcome Scenario::run(const std::atomic<int>& interrupts) {
  if (auto status = environment_.write_config(plan_.work()); !status) fail(status.error());
  if (!stopping_) add_member();
  while (!stopping_ || !all_ended()) {
    std::this_thread::sleep_for(turn);
    now_ = SteadyClock::now();
    heed(interrupts.load());
    observe();
    if (!stopping_) advance();
    screen_.show(at(), observer_.rows());
  }
  return conclude();
}

void Scenario::heed(int interrupts) {
  if (interrupts == 0 && !screen_.gone()) return;
  if (!interrupted_) {
    interrupted_ = now_;
    if (!stopping_) stop("interrupted: all members drain, commit and leave");
  } else if (interrupts > 1 && now_ > *interrupted_ + app::same_wish) {
    for (auto& member : members_) member->stop_at_once();
  }
}

void Scenario::observe() {
  audit_.read();
  std::vector<std::vector<service::LaneView>> lanes;
  for (const auto& member : members_) lanes.push_back(member->lanes());
  for (std::size_t p = 0; p < partitions; ++p) {
    Row& row = observer_.rows()[p];
    row.produced = environment_.sent()[p];
    row.done = audit_.processed(p);
  }
  for (const auto& event : observer_.update(lanes)) tell(event);
}

void Scenario::advance() {
  for (const auto& member : members_)
    if (member->ended() && member->outcome().error) return fail(*member->outcome().error);
  if (began_) return play(now_ - *began_);
  if (observer_.lanes_of(1) == partitions) began_ = now_;
  if (at() > start_limit)
    fail({ErrorKind::timeout, "the first member got no lanes", "see " + environment_.folder() + "/log"});
}

void Scenario::play(Duration elapsed) {
  if (auto status = environment_.send(plan_.due(elapsed)); !status) return fail(status.error());
  change_members(elapsed);
  if (elapsed < plan_.produce_for()) return;
  // No record waits in the topic, and the unfinished records fit into the pools.
  const auto& rows = observer_.rows();
  const bool worked_off = std::all_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.all_taken() && row.lag() <= workers + queue;
  });
  if (members_.back()->ended() && observer_.lanes_of(1) == partitions && worked_off)
    stop("member 1 stops with records in its queues: it drains, commits and leaves");
  else if (elapsed > length_ + overtime)
    fail({ErrorKind::timeout, "the backlog was not finished within a minute", "is the machine busy?"});
}

void Scenario::change_members(Duration elapsed) {
  if (members_.size() == 1 && elapsed >= plan_.second_joins()) add_member();
  if (members_.size() == 1 || members_.back()->stopping()) return;
  if (elapsed < plan_.second_leaves() || observer_.lanes_of(2) == 0) return;
  tell("member 2 stops: it drains, commits and leaves");
  members_.back()->stop();
}

bool Scenario::all_ended() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->ended(); });
}

void Scenario::add_member() {
  const std::size_t number = members_.size() + 1;
  auto config = environment_.config_of(number);
  if (!config) return fail(config.error());
  if (number == 2)
    if (auto status = environment_.expect_second_member(); !status) return fail(status.error());
  audit_.follow(environment_.journal_of(number));
  members_.push_back(std::make_unique<Member>(std::move(config).value()));
  tell("member " + std::to_string(number) + " joins the group" +
       (number == 1 ? ", which waits 3 s for other members" : ""));
}

void Scenario::stop(const std::string& why) {
  tell(why);
  stopping_ = true;
  for (auto& member : members_) member->stop();
}

void Scenario::fail(const Error& error) {
  if (!error_) error_ = error;
  if (!stopping_) stop("stopped: " + error.message);
}

Outcome Scenario::conclude() {
  Outcome outcome;
  for (const auto& member : members_) {
    outcome.ended.abandoned += member->outcome().abandoned;
    outcome.ended.stuck = outcome.ended.stuck || member->outcome().stuck;
    if (const auto& error = member->outcome().error; error && !error_) error_ = error;
  }
  if (auto status = environment_.acknowledge(); !status && !error_) error_ = status.error();
  std::vector<std::int64_t> offsets(partitions, -1);
  if (auto committed = environment_.committed())
    offsets = *committed;
  else if (!error_)
    error_ = committed.error();
  now_ = SteadyClock::now();
  observe();
  for (std::size_t p = 0; p < partitions; ++p) observer_.rows()[p].committed = offsets[p];
  screen_.show(at(), observer_.rows(), true);
  outcome.findings = audit_.judge(environment_.sent(), offsets);
  outcome.interrupted = interrupted_.has_value();
  outcome.ended.error = error_;
  return outcome;
}

}  // namespace laneway::demo
