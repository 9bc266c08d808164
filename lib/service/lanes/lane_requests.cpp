#include "service/lanes/lane_requests.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <tuple>

#include "base/mutex.h"
#include "config/text.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

using Action = ControlRequest::Action;
using Kind = ControlAnswer::Kind;

constexpr std::size_t most_listed = 50;

bool is_about(const ControlRequest& request, const LaneView& lane) {
  return lane.topic == request.topic && (!request.partition || lane.partition == *request.partition);
}

ControlAnswer not_found(const ControlRequest& request, const std::vector<LaneView>& lanes) {
  std::string text = request.target() + " is not a lane of this process; ";
  if (request.action == Action::resume)
    text += "a suspension goes with its partition, so resume it at the instance that has the partition now; ";
  if (lanes.empty()) return {Kind::not_found, text + "the process has no lanes now"};
  std::vector<std::string> names;
  for (const auto& lane : lanes) names.push_back(name_of(lane));
  return {Kind::not_found, text + "its lanes are " + config::listed(std::move(names), most_listed)};
}

/// Waits until the brokers have the decision about each lane that the request is about. Returns false if that
/// takes longer: a member hangs, or a partition is on its way.
bool stored(const Loops& loops, const lane::Suspensions& suspensions, const ControlRequest& request,
            Duration patience) {
  constexpr Duration between_looks = milliseconds(20);
  for (const Deadline deadline = Deadline::in(patience);; std::this_thread::sleep_for(between_looks)) {
    auto lanes = views_of(loops);
    std::erase_if(lanes, [&](const auto& lane) { return !is_about(request, lane); });
    const auto is_stored = [&](const auto& lane) {
      const auto decision = suspensions.decision({lane.topic, lane.partition});
      return decision && lane.stored_decision_ms >= decision->at_ms;
    };
    const bool complete = !lanes.empty() || request.action == Action::resume;
    if (complete && std::all_of(lanes.begin(), lanes.end(), is_stored)) return true;
    if (deadline.passed()) return false;
  }
}

/// How the answer to `laneway suspend` goes on.
const char* lasts(const ControlRequest& request) {
  if (request.here)
    return " in this process: no more records are taken until `laneway resume`, or until the process ends";
  if (!request.partition)
    return ": the lanes of this process take no more records until `laneway resume`, also after a restart; "
           "other instances go on with the lanes that they have now";
  return ": no more records are taken until `laneway resume`, also after a restart and in the next instance";
}

ControlAnswer set_suspended(const Loops& loops, lane::Suspensions& suspensions, const ControlRequest& request,
                            const std::vector<LaneView>& lanes, Duration patience) {
  const bool suspended = request.action == Action::suspend;
  // The lane, or the brokers, may not have followed the last decision of this process yet.
  const auto differs = [&](const auto& lane) {
    if (!is_about(request, lane)) return false;
    const auto decided = suspensions.decision({lane.topic, lane.partition});
    return lane.suspended() != suspended ||
           (decided && (decided->suspended != suspended || lane.stored_decision_ms < decided->at_ms));
  };
  bool changed = std::any_of(lanes.begin(), lanes.end(), differs);
  if (!suspended && !request.partition) changed = suspensions.suspends(request.topic) || changed;
  if (!suspended || request.here)
    changed = suspensions.set_here(request.topic, request.partition, suspended) || changed;
  if (!request.here) suspensions.decide(request.topic, request.partition, {suspended, wall_clock_ms()});
  for (const auto& loop : loops) loop->suspensions_changed();
  const std::string name = request.target();
  telemetry::warn(suspended ? "suspend requested" : "resume requested",
                  {{"topic", request.topic},
                   {"partition", request.partition ? std::to_string(*request.partition) : "all"},
                   {"changed", changed}});
  auto text = suspended ? name + (changed ? " is suspended" : " was already suspended") + lasts(request)
                        : name + (changed ? " is resumed" : " was not suspended");
  const bool asks_brokers = suspended ? !request.here : changed;
  if (!asks_brokers || stored(loops, suspensions, request, patience))
    return {Kind::done, std::move(text), changed};
  text += "; the brokers have not stored this yet: if the process dies now, the suspension ";
  return {Kind::accepted, text + (suspended ? "is lost" : "comes back"), changed};
}

ControlAnswer answer_to(lane::Skip skip, const std::string& record) {
  switch (skip) {
    case lane::Skip::on_its_way:
      return {Kind::done, record + " goes to the dead-letter topic"};
    case lane::Skip::passed_over:
      return {Kind::done, record + " and the corrupt records before it are skipped"};
    case lane::Skip::when_it_fails:
      return {
          Kind::accepted,
          record + " is running or queued: if that attempt fails, the record goes to the dead-letter topic"};
    case lane::Skip::no_dead_letters:
      return {Kind::refused,
              record + " cannot be skipped: dead_letter is not configured, and no record is dropped"};
    case lane::Skip::already_given_up:
      return {Kind::refused, record + " is already on its way to the dead-letter topic"};
    case lane::Skip::not_taken:
      return {Kind::refused,
              record + " has not been fetched yet; only a record that blocks others can be skipped"};
    case lane::Skip::not_waiting:
      return {Kind::not_found, record + " is not in the lane: the record is finished, or does not exist"};
    case lane::Skip::leaving:
      break;
  }
  return {Kind::refused, record + " is about to leave this process: its partition is being revoked"};
}

/// The first lane's answer counts: a lane that is being revoked may exist beside its successor.
struct SkipAnswer {
  std::atomic<bool> given{false};
  std::promise<lane::Skip> promise;
};

ControlAnswer answer_of(std::future<lane::Skip>& future, const std::string& record) {
  try {
    return answer_to(future.get(), record);
  } catch (const std::future_error&) {  // no lane was asked
    return answer_to(lane::Skip::leaving, record);
  }
}

ControlAnswer skip(const Loops& loops, const ControlRequest& request, Duration patience) {
  const kafka::TopicPartition partition{request.topic, *request.partition};
  auto answer = std::make_shared<SkipAnswer>();
  auto future = answer->promise.get_future();
  bool taken = true;
  for (const auto& loop : loops)
    taken = loop->post([=, offset = request.offset, reason = request.reason](lane::Lane& lane,
                                                                             TimePoint now) {
      if (lane.partition() == partition && lane.state() != lane::State::revoked &&
          !answer->given.exchange(true))
        answer->promise.set_value(lane.skip(offset, reason, now));
    }) && taken;
  answer.reset();
  const std::string record = partition.text(request.offset);
  if (!taken)
    return {Kind::no_answer, record + ": a member hangs or is ending, and takes no more requests; " +
                                 "the record may still be skipped, see the log"};
  if (future.wait_for(patience) != std::future_status::ready)
    return {Kind::no_answer, record + ": its lane did not answer within " +
                                 std::to_string(duration_cast<seconds>(patience).count()) +
                                 " s; the record may still be skipped, see the log"};
  auto result = answer_of(future, record);
  telemetry::warn("skip requested", {{"topic", request.topic},
                                     {"partition", *request.partition},
                                     {"offset", request.offset},
                                     {"reason", request.reason},
                                     {"outcome", result.text}});
  return result;
}

}  // namespace

std::vector<LaneView> views_of(const Loops& loops) {
  std::vector<LaneView> views;
  for (std::size_t member = 0; member < loops.size(); ++member)
    for (const auto& lane : loops[member]->lanes()) views.push_back(view_of(*lane, member));
  std::sort(views.begin(), views.end(), [](const LaneView& a, const LaneView& b) {
    return std::tie(a.topic, a.partition) < std::tie(b.topic, b.partition);
  });
  return views;
}

std::map<std::uint64_t, lane::LaneDetail> details_of(const Loops& loops, Duration patience) {
  struct Answers {
    Mutex mutex;
    Condition changed;
    std::map<std::uint64_t, lane::LaneDetail> found GUARDED_BY(mutex);
  };
  const auto answers = std::make_shared<Answers>();
  std::size_t expected = 0;
  for (const auto& loop : loops) {
    const auto lanes = loop->lanes().size();
    const bool taken = loop->post([answers](lane::Lane& lane, TimePoint now) {
      auto detail = lane.detail(now);
      {
        MutexLock lock(answers->mutex);
        answers->found[lane.epoch()] = std::move(detail);
      }
      answers->changed.notify_all();
    });
    if (taken) expected += lanes;
  }
  const auto until = SteadyClock::now() + patience;
  MutexLock lock(answers->mutex);
  while (answers->found.size() < expected && answers->changed.wait_until(answers->mutex, until)) {
  }
  return answers->found;
}

ControlAnswer control(const Loops& loops, lane::Suspensions& suspensions, const ControlRequest& request,
                      Duration patience) {
  const auto lanes = views_of(loops);
  const bool here =
      std::any_of(lanes.begin(), lanes.end(), [&](const auto& lane) { return is_about(request, lane); });
  // What was suspended in this process only, or for partitions that come to it, can be resumed while no lane
  // is here. A suspension that travels has gone with its partition.
  const bool known =
      request.action == Action::resume &&
      (suspensions.knows_here(request.topic) || (!request.partition && suspensions.suspends(request.topic)));
  if (!here && !known) return not_found(request, lanes);
  if (request.action == Action::skip) return skip(loops, request, patience);
  return set_suspended(loops, suspensions, request, lanes, patience);
}

}  // namespace laneway::service
