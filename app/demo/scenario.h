// The demo's story: a member works on uneven bursts, a second member joins and leaves, the first member
// stops; then the evidence is audited.
//
// Threads: one. run() blocks until the story is over, at most a minute longer than the requested duration, or
// as long as standard output blocks.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/demo/audit.h"
#include "app/demo/environment.h"
#include "app/demo/member.h"
#include "app/demo/observer.h"
#include "app/demo/plan.h"
#include "app/demo/screen.h"

namespace laneway::demo {

struct Outcome {
  Findings findings;
  bool interrupted = false;
  /// Of all members. With an error the story ended early; if stuck, the process must end without destroying
  /// the Scenario.
  service::Ended ended{};
};

class Scenario {
 public:
  Scenario(Environment& environment, std::uint64_t records, Duration length);

  /// `interrupts` counts the requests of a person to stop: the first drains, the second abandons running
  /// records.
  Outcome run(const std::atomic<int>& interrupts);

 private:
  void heed(int interrupts);
  void observe();
  void advance();
  void play(Duration elapsed);
  void change_members(Duration elapsed);
  bool all_ended() const;
  void add_member();
  void stop(const std::string& why);
  void fail(const Error& error);
  Outcome conclude();
  void tell(const std::string& event) { screen_.event(at(), event); }
  Duration at() const { return now_ - start_; }

  Environment& environment_;
  const Plan plan_;
  const Duration length_;
  Audit audit_{partitions};
  Observer observer_;
  Screen screen_;
  const TimePoint start_;
  TimePoint now_;
  std::optional<TimePoint> began_;  // the first member has its lanes
  std::optional<TimePoint> interrupted_;
  bool stopping_ = false;
  std::optional<Error> error_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace laneway::demo
