#include "lane/state/record_life.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "folders.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Route;
using handler::Verdict;

namespace {

constexpr std::array states{RecordState::queued, RecordState::running, RecordState::waiting,
                            RecordState::split};

constexpr std::array record_states{"queued", "running", "waiting", "split", "finished", "given back"};
constexpr std::array record_owners{"stage",    "worker", "attempts",     "next stage",
                                   "sub-jobs", "ledger", "next consumer"};
static_assert(static_cast<std::size_t>(RecordState::given_back) + 1 == record_states.size());
static_assert(static_cast<std::size_t>(RecordOwner::next_consumer) + 1 == record_owners.size());

std::string name_of(RecordState state) { return record_states.at(static_cast<std::size_t>(state)); }
std::string name_of(RecordOwner owner) { return record_owners.at(static_cast<std::size_t>(owner)); }

const RecordStep& step_of(const RecordEvents& row, RecordState before) {
  return row.steps.at(static_cast<std::size_t>(before));
}

std::string cell(const RecordStep& step) {
  if (!step.possible) return "";
  return name_of(step.state) + " (" + name_of(step.owner) + ")";
}

/// The table as docs/architecture.md has it.
std::string table_for_people() {
  std::string text = "| event |";
  for (const auto state : states) text += " " + name_of(state) + " |";
  text += "\n|---|---|---|---|---|\n";
  for (const auto& row : record_steps::table) {
    text += "| " + std::string(row.words) + " |";
    for (const auto state : states) {
      const auto shown = cell(step_of(row, state));
      text += shown.empty() ? " |" : " " + shown + " |";
    }
    text += '\n';
  }
  return text;
}

std::string page(const std::string& name) {
  std::ifstream file(source_folder() + "/docs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The states that a record of `from` can come to.
std::set<RecordState> reachable(RecordState from) {
  std::set<RecordState> seen{from};
  for (std::vector<RecordState> next{from}; !next.empty();) {
    const auto state = next.back();
    next.pop_back();
    if (static_cast<std::size_t>(state) >= states_with_events) continue;
    for (const auto& row : record_steps::table) {
      const auto& step = step_of(row, state);
      if (step.possible && seen.insert(step.state).second) next.push_back(step.state);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("docs/architecture.md shows the table of a record's life") {
  INFO(table_for_people());
  CHECK(page("architecture.md").find("\n\n" + table_for_people() + "\n") != std::string::npos);
}

TEST_CASE("the glossary explains each state of a record") {
  const auto glossary = page("glossary.md");
  for (const auto* state : record_states) {
    INFO(state);
    CHECK(glossary.find("\n| " + std::string(state) + " |") != std::string::npos);
  }
}

TEST_CASE("a record can finish, and can be given back, from each state") {
  for (const auto state : states) {
    INFO(name_of(state));
    const auto ends = reachable(state);
    CHECK(ends.contains(RecordState::finished));
    CHECK(after(state, RecordEvent::dropped).state == RecordState::given_back);
  }
}

TEST_CASE("an offset may be committed only after the record is done or written to a topic") {
  std::set<RecordEvent> commit;
  for (const auto& row : record_steps::table)
    for (const auto state : states)
      if (step_of(row, state).commits) commit.insert(row.event);
  CHECK(commit == std::set{RecordEvent::done, RecordEvent::written, RecordEvent::sub_jobs_ended});
}

TEST_CASE("only a record that is queued can begin, and only a running record can be answered") {
  for (const auto& row : record_steps::table) {
    INFO(row.words);
    CHECK((step_of(row, RecordState::queued).possible &&
           step_of(row, RecordState::queued).state == RecordState::running) ==
          (row.event == RecordEvent::claimed));
    const bool answer = row.event > RecordEvent::claimed && row.event < RecordEvent::due;
    CHECK(step_of(row, RecordState::running).possible == (answer || row.event == RecordEvent::dropped));
  }
}

TEST_CASE("each state of a record has its owners, and no two states share one") {
  using State = RecordState;
  using Owner = RecordOwner;
  for (const auto& row : record_steps::table) {
    for (const auto state : states) {
      const auto& step = step_of(row, state);
      if (!step.possible) continue;
      INFO(row.words);
      CHECK((step.owner == Owner::stage || step.owner == Owner::next_stage) == (step.state == State::queued));
      CHECK((step.owner == Owner::worker) == (step.state == State::running));
      CHECK((step.owner == Owner::attempts) == (step.state == State::waiting));
      CHECK((step.owner == Owner::sub_jobs) == (step.state == State::split));
      CHECK((step.owner == Owner::ledger) == (step.state == State::finished));
      CHECK((step.owner == Owner::next_consumer) == (step.state == State::given_back));
    }
  }
}

TEST_CASE("a worker's answer is an event, by the record's route and the stage") {
  CHECK(event_of(Route::work, false, Verdict::done) == RecordEvent::done);
  CHECK(event_of(Route::work, true, Verdict::done) == RecordEvent::passed_on);
  for (const bool passes_on : {false, true}) {
    for (const auto verdict : {Verdict::retry, Verdict::reject, Verdict::unavailable})
      CHECK(event_of(Route::work, passes_on, verdict) == RecordEvent::failed);
    CHECK(event_of(Route::work, passes_on, Verdict::unavailable, handler::Cause::withheld) ==
          RecordEvent::withheld);
    for (const auto route : {Route::retry_topic, Route::dead_letter}) {
      CHECK(event_of(route, passes_on, Verdict::done) == RecordEvent::written);
      CHECK(event_of(route, passes_on, Verdict::reject) == RecordEvent::not_written);
    }
  }
}
