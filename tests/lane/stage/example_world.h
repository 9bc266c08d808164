// A shipped example in virtual time: events come at a steady rate, and a receiver may be out. It is judged by
// what comes to each receiver, by the commits, and by what the lanes hold.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lane/stage/example_instance.h"

namespace laneway::lane {

/// How often records came to one receiver, by partition and offset.
class Arrivals {
 public:
  void note(const kafka::Record& record) {
    auto& times = times_[record.partition()];
    const auto offset = static_cast<std::size_t>(record.offset());
    if (times.size() <= offset) times.resize(offset + 1);
    ++times[offset];
    ++all_;
  }
  std::uint32_t times(std::int32_t partition, std::size_t offset) const {
    const auto found = times_.find(partition);
    return found == times_.end() || found->second.size() <= offset ? 0 : found->second[offset];
  }
  std::size_t all() const { return all_; }

 private:
  std::map<std::int32_t, std::vector<std::uint8_t>> times_;
  std::size_t all_ = 0;
};

class ExampleWorld {
 public:
  using Receivers = std::set<std::string>;
  struct Event {
    kafka::RecordData record;
    std::shared_ptr<const Receivers> receivers;
  };
  using NextEvent = std::function<Event(std::int64_t number)>;
  using Answers = std::map<std::string, InstantHandler::Answer>;

  /// `answers`: by the names of the pools.
  ExampleWorld(config::Config config, const Answers& answers, NextEvent next_event, Duration between)
      : config_(std::move(config)), next_event_(std::move(next_event)), between_(between) {
    for (const auto& [pool, answer] : answers)
      handlers_[pool] = answers_.emplace_back(std::make_unique<InstantHandler>(answer)).get();
  }
  ExampleWorld(const ExampleWorld&) = delete;

  /// A record has come to the receiver, which has taken it.
  void arrived(const std::string& receiver, const handler::Attempt& attempt) {
    got[receiver].note(attempt.record.unread());
    highest_attempt = std::max(highest_attempt, attempt.number);
  }
  /// An instance begins where the last one has committed.
  void begin() {
    instance_.reset();
    instance_ = std::make_unique<ExampleInstance>(topics_, now, config_, handlers_, forward_);
    instance_->start(commits_);
  }
  /// A stop and a start, as of an upgrade.
  void restart() {
    instance_->stop();
    begin();
  }
  void pass(Duration time, bool events = true) {
    for (const auto end = now + time; now < end;) {
      now += between_;
      if (events) write();
      instance_->turn();
      if (now - last_second_ >= seconds(1)) a_second_passes();
      if (now - last_minute_ >= std::chrono::minutes(1)) a_minute_passes();
    }
  }
  /// No events come until everything is committed. Returns how long that took.
  Duration finish(Duration within) {
    const auto begun = now;
    do {
      pass(seconds(10), false);
    } while (!all_committed() && now - begun < within);
    CHECK(all_committed());
    return now - begun;
  }
  /// Of what came and the dead letters together.
  Wrong wrong(const Receivers& receivers) const {
    Wrong wrong;
    for (const auto& [partition, events] : events_)
      for (std::size_t offset = 0; offset < events.size(); ++offset)
        for (const auto& receiver : receivers) {
          if (!events[offset]->contains(receiver)) continue;
          const auto times =
              times_of(got, receiver, partition, offset) + times_of(letters, receiver, partition, offset);
          (times == 0 ? wrong.missing : wrong.twice) += times == 0 ? 1 : times - 1;
        }
    return wrong;
  }
  std::size_t written_between(TimePoint begin, TimePoint end) const {
    const auto first = std::upper_bound(written_.begin(), written_.end(), begin);
    return static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(std::lower_bound(written_.begin(), written_.end(), end) - first, 0));
  }
  /// Prints the figures if LANEWAY_TELL is set. `took`: until everything was done after the outage.
  void tell(const std::string& example, Duration took) const {
    if (std::getenv("LANEWAY_TELL") == nullptr) return;
    std::cout << example << ": " << written_.size() << " events, " << seen.parked
              << " parked, of a minute at least " << seen.least_of_a_minute << ", uncommitted "
              << seen.longest_uncommitted / milliseconds(1) << " ms, lane " << seen.most_bytes << " bytes of "
              << lane_bytes() << ", " << seen.most_waiting << " waiting, all was done after "
              << took / seconds(1) << " s";
    for (const auto& [part, all] : letters) std::cout << ", letters of " << part << ": " << all.all();
    std::cout << "\n";
  }
  std::uint64_t lane_bytes() const { return instance_->context.memory.lane_bytes; }
  const config::Config& config() const { return config_; }
  /// Whether a lane takes no records.
  bool any_held() const {
    bool held = false;
    instance_->each_lane([&](const Lane& lane) { held = held || lane.state() != State::running; });
    return held;
  }
  std::uint64_t max_waiting() const { return config_.retry.max_waiting; }

  /// What the outage cost the others, and the lanes, so far.
  struct Seen {
    double least_of_a_minute = 1;  ///< of the events of any minute, so many came to a receiver that works
    Duration longest_uncommitted{};
    std::uint64_t most_bytes = 0;    ///< in a lane
    std::uint64_t most_waiting = 0;  ///< records of a lane that wait for a time or an attempt
    std::uint64_t parked = 0;        ///< times that a record was written to a retry topic
  };
  Seen seen;
  std::string out;  ///< the receiver that is out; empty if all work
  bool all_are_out = false;
  std::map<std::string, Arrivals> got;
  std::map<std::string, Arrivals> letters;  ///< by the sub-job
  std::uint32_t highest_attempt = 0;        ///< of the records that came
  TimePoint now = SteadyClock::now();

 private:
  const CapturedLog log_;
  const VirtualClock clock_{now};

  static std::uint32_t times_of(const std::map<std::string, Arrivals>& all, const std::string& receiver,
                                std::int32_t partition, std::size_t offset) {
    const auto found = all.find(receiver);
    return found == all.end() ? 0 : found->second.times(partition, offset);
  }
  const std::string& source() const { return config_.topics.front(); }
  void write() {
    const auto number = static_cast<std::int64_t>(written_.size());
    const auto partition = static_cast<std::int32_t>(number % ExampleInstance::partitions);
    auto event = next_event_(number);
    topics_.write({source(), partition}, std::move(event.record));
    for (const auto& receiver : *event.receivers) ++minute_[receiver].expected;
    events_[partition].push_back(std::move(event.receivers));
    written_.push_back(now);
  }
  void a_second_passes() {
    last_second_ = now;
    instance_->settle();
    instance_->commit();
    seen.parked = 0;
    for (const auto& [partition, commit] : commits_) {
      topics_.forget(partition, commit.offset);
      if (partition.topic != source())
        seen.parked += topics_.log(partition.topic, partition.partition).size();
      if (partition.topic != source() || commit.offset >= topics_.log(source(), partition.partition).end())
        continue;
      // The events go to the partitions in turn.
      const auto number = commit.offset * ExampleInstance::partitions + partition.partition;
      seen.longest_uncommitted =
          std::max(seen.longest_uncommitted, now - written_[static_cast<std::size_t>(number)]);
    }
    instance_->each_lane([this](const Lane& lane) {
      seen.most_bytes = std::max(seen.most_bytes, lane.stats().record_bytes.get());
      seen.most_waiting = std::max(seen.most_waiting, lane.stats().waiting_retries.get());
    });
  }
  /// What was written in the last moment may come in the next minute.
  void a_minute_passes() {
    last_minute_ = now;
    for (auto& [receiver, minute] : minute_) {
      const auto came = got[receiver].all() - std::exchange(minute.before, got[receiver].all());
      const auto expected = std::exchange(minute.expected, 0);
      if (expected > 0 && receiver != out && !all_are_out)
        seen.least_of_a_minute =
            std::min(seen.least_of_a_minute, static_cast<double>(came) / static_cast<double>(expected));
    }
  }
  bool all_committed() {
    return std::all_of(commits_.begin(), commits_.end(), [this](const auto& commit) {
      return commit.second.offset == topics_.log(commit.first.topic, commit.first.partition).end();
    });
  }

  struct Minute {
    std::size_t expected = 0;
    std::size_t before = 0;
  };
  const config::Config config_;
  const NextEvent next_event_;
  const Duration between_;
  std::vector<std::unique_ptr<InstantHandler>> answers_;
  ExampleInstance::Handlers handlers_;
  ParkedTopics topics_;
  ParkingInstance::Commits commits_;
  std::map<std::int32_t, std::vector<std::shared_ptr<const Receivers>>> events_;  // by their offsets
  std::vector<TimePoint> written_;
  std::map<std::string, Minute> minute_;
  TimePoint last_second_ = now;
  TimePoint last_minute_ = now;
  InstantHandler forward_{[this](const handler::Attempt& letter) {
    std::string part;
    for (const auto& header : letter.record.headers())
      if (header.name == "laneway-part") part = header.value.value_or("");
    letters[part].note(letter.record.unread());
    return handler::Outcome::done();
  }};
  std::unique_ptr<ExampleInstance> instance_;  // uses the members above
};

}  // namespace laneway::lane
