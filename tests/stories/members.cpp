#include "stories/members.h"

namespace laneway::stories {
namespace {

constexpr Duration stop_beyond_drain = seconds(5);  // a promise of the service

}  // namespace

std::unique_ptr<handler::Handler> Members::handler(const std::string& member) {
  if (story_.work == Work::library) return std::make_unique<BlockingHandler>(downstream_, member);
  if (story_.work == Work::asynchronous) return std::make_unique<AsynchronousHandler>(downstream_, member, 8);
  return nullptr;
}

Member* Members::join() {
  auto made = std::make_unique<Member>();
  Member* member = made.get();
  {
    MutexLock lock(mutex_);
    member->name = group_.name + "-m" + std::to_string(members_.size() + 1);
    members_.push_back(std::move(made));
  }
  member->service = std::make_unique<service::Service>(config(member->name), handler(member->name));
  const auto started = member->service->start();
  if (!started) {
    facts_.breach("members start", member->name + ": " + started.error().text());
    return nullptr;
  }
  member->running = true;
  member->waits = std::thread([member] {
    member->how = member->service->wait();
    member->ended = true;
  });
  return member;
}

std::vector<Member*> Members::running() {
  MutexLock lock(mutex_);
  std::vector<Member*> all;
  for (const auto& member : members_)
    if (member->running) all.push_back(member.get());
  return all;
}

Member* Members::chosen(std::uint32_t choice) {
  const auto all = running();
  return all.empty() ? nullptr : all[choice % all.size()];
}

void Members::end(Member& member, bool abandon) {
  if (!member.running.exchange(false)) return;
  if (abandon) tap_.abandon(member.name);
  const bool by_itself = member.ended;
  const auto stopped_before = downstream_.stopped(member.name);
  const auto begun = SteadyClock::now();
  member.service->stop();
  if (abandon) member.service->stop();
  member.waits.join();
  const auto took = SteadyClock::now() - begun;
  const auto& how = member.how;
  if (!abandon) {
    if (took > milliseconds(story_.drain_ms) + stop_beyond_drain + busy_machine)
      facts_.breach("a stop has a bound",
                    member.name + " took " + std::to_string(took / milliseconds(1)) + " ms to stop");
    if (by_itself && story_.work != Work::transactional)
      facts_.breach("members live",
                    member.name + " ended by itself" + (how.error ? ": " + how.error->text() : ""));
    const auto stopped = downstream_.stopped(member.name) - stopped_before;
    if (how.abandoned > stopped)
      facts_.breach("only what ran is abandoned", member.name + " abandoned " +
                                                      std::to_string(how.abandoned) + " records, of which " +
                                                      std::to_string(stopped) + " ran");
    if (how.abandoned > 0 && downstream_.always_worked() && story_.hanging == 0)
      facts_.breach("a drain finishes what it keeps", member.name + " abandoned " +
                                                          std::to_string(how.abandoned) + " records of " +
                                                          std::to_string(story_.work_ms) + " ms");
  }
  // Another fault may be asking the service at the moment, so it is destroyed with the play. A member can
  // hang in the client, such as an expelled one, of which the embedded coordinator keeps a ghost.
  if (how.stuck) left_behind_ = true;
}

}  // namespace laneway::stories
