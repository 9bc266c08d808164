// What members of a group go through.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "facts.h"

namespace client_facts {
namespace {

constexpr int partitions = 8;

/// What a member was told last, and has not answered.
struct Asked {
  rd_kafka_event_t* event = nullptr;
  bool revoked = false;
  bool lost = false;
  List partitions;
};

/// A member of a group that answers rebalances only when it is told to.
class Member {
 public:
  Member(const std::string& bootstrap, const std::string& name, const Settings& more) {
    Settings settings{{"partition.assignment.strategy", "cooperative-sticky"},
                      {"heartbeat.interval.ms", "200"},
                      {"session.timeout.ms", "10000"}};
    if (more.contains("group.protocol"))
      settings.clear();  // the newer protocol refuses the keys of the classic one
    for (const auto& [key, value] : more) settings[key] = value;
    client = consumer(bootstrap, settings, [this](rd_kafka_conf_t* conf) {
      rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR);
      (void)rd_kafka_conf_interceptor_add_on_new(conf, "facts", watch_requests, this);
    });
    events_ = rd_kafka_queue_get_consumer(client);
    rd_kafka_subscribe(client, one(name, RD_KAFKA_PARTITION_UA).get());
  }

  /// The next rebalance event, which is to be answered.
  std::optional<Asked> asked(milliseconds wait = milliseconds(5)) {
    auto* event = rd_kafka_queue_poll(events_, static_cast<int>(wait.count()));
    if (event == nullptr || rd_kafka_event_type(event) != RD_KAFKA_EVENT_REBALANCE) return {};
    Asked asked;
    asked.event = event;
    asked.revoked = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS;
    asked.lost = rd_kafka_assignment_lost(client) != 0;
    asked.partitions.reset(rd_kafka_topic_partition_list_copy(rd_kafka_event_topic_partition_list(event)));
    return asked;
  }
  void answer(const Asked& asked) {
    const bool cooperative = std::strcmp(rd_kafka_rebalance_protocol(client), "COOPERATIVE") == 0;
    if (cooperative) {
      if (asked.revoked)
        (void)rd_kafka_incremental_unassign(client, asked.partitions.get());
      else
        (void)rd_kafka_incremental_assign(client, asked.partitions.get());
    } else {
      (void)rd_kafka_assign(client, asked.revoked ? nullptr : asked.partitions.get());
    }
    rd_kafka_event_destroy(asked.event);
  }
  /// Answers what comes, until it has so many partitions.
  void settle(int count) {
    wait_for("the member has its partitions", [&] {
      if (const auto event = asked()) answer(*event);
      return size() == count;
    });
  }
  int size() const {
    rd_kafka_topic_partition_list_t* list = nullptr;
    if (rd_kafka_assignment(client, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    const List owned(list);
    return owned->cnt;
  }

  rd_kafka_t* client;
  std::atomic<int> joins{0};   // requests that were sent
  std::atomic<int> joined{0};  // and answered

 private:
  static rd_kafka_resp_err_t sent(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api, std::int16_t,
                                  std::int32_t, std::size_t, void* self) {
    if (api == join_group) ++static_cast<Member*>(self)->joins;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  static rd_kafka_resp_err_t received(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                      std::int16_t, std::int32_t, std::size_t, std::int64_t,
                                      rd_kafka_resp_err_t, void* self) {
    if (api == join_group) ++static_cast<Member*>(self)->joined;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  static rd_kafka_resp_err_t watch_requests(rd_kafka_t* client, const rd_kafka_conf_t*, void* self, char*,
                                            std::size_t) {
    (void)rd_kafka_interceptor_add_on_request_sent(client, "facts", sent, self);
    return rd_kafka_interceptor_add_on_response_received(client, "facts", received, self);
  }
  rd_kafka_queue_t* events_;
};

/// Another member in a thread of its own, which answers at once and ends with the process.
void join_another(const std::string& bootstrap, const std::string& name, const Settings& more) {
  std::thread([=] {
    Member member(bootstrap, name, more);
    for (;;)
      if (const auto event = member.asked(milliseconds(100))) member.answer(*event);
  }).detach();
}

/// Pops from the queues of the partitions that a member keeps.
int pop_kept(const std::vector<rd_kafka_queue_t*>& queues, const std::string& name, const List& revoked) {
  int records = 0;
  for (int partition = 0; partition < partitions; ++partition) {
    if (rd_kafka_topic_partition_list_find(revoked.get(), name.c_str(), partition) != nullptr) continue;
    if (const auto popped = pop(queues[static_cast<std::size_t>(partition)], milliseconds(0)))
      records += popped->error == RD_KAFKA_RESP_ERR_NO_ERROR ? 1 : 0;
  }
  return records;
}

Seen kept_during_revocation(const std::string& bootstrap, const std::string& name, const Settings& settings) {
  for (int partition = 0; partition < partitions; ++partition) fill(bootstrap, name, partition, 20000);
  Member member(bootstrap, name, settings);
  std::vector<rd_kafka_queue_t*> queues;
  for (int partition = 0; partition < partitions; ++partition)
    queues.push_back(own_queue(member.client, name, partition));
  member.settle(partitions);
  for (auto* queue : queues)
    if (!next_record(queue, seconds(30))) give_up("no record came");
  join_another(bootstrap, name, settings);
  std::optional<Asked> revocation;
  wait_for("partitions are revoked", [&] {
    revocation = member.asked();
    if (revocation && !revocation->revoked) member.answer(*revocation);
    return revocation && revocation->revoked;
  });
  int meanwhile = 0;
  for (const auto begin = Clock::now(); since(begin) < seconds(3);
       std::this_thread::sleep_for(milliseconds(5)))
    meanwhile += pop_kept(queues, name, revocation->partitions);
  const auto answered = Clock::now();
  member.answer(*revocation);
  wait_for("a kept partition goes on", [&] {
    if (const auto next = member.asked(milliseconds(0))) member.answer(*next);
    return pop_kept(queues, name, revocation->partitions) > 0;
  });
  return {meanwhile == 0,
          text("%d records of the kept partitions in 3 s before the answer; the first %lld ms after it",
               meanwhile, static_cast<long long>(since(answered).count()))};
}

Seen kept_stand_still() {
  const Mock mock;
  mock.create(mock_topic, partitions);
  return kept_during_revocation(mock.bootstrap(), mock_topic, {});
}

Seen kept_stand_still_by_consumer_protocol() {
  if (const auto reason = refused(rd_kafka_conf_new(), "group.protocol", "consumer"); !reason.empty())
    return {false, reason};
  const auto name = create_topic(partitions);
  return kept_during_revocation(kafka_bootstrap(), name,
                                {{"group.id", name}, {"group.protocol", "consumer"}});
}

/// A commit that is sent while the member joins, and so is answered with "illegal generation".
Seen commit_in_join_loses() {
  const Mock mock;
  mock.create(mock_topic, partitions);
  Member member(mock.bootstrap(), mock_topic, {});
  member.settle(partitions);
  const int joins = member.joins;
  mock.fail_next(heartbeat, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  mock.fail_next(join_group, RD_KAFKA_RESP_ERR_NO_ERROR, seconds(2));
  mock.fail_next(offset_commit, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
  wait_for("the member joins", [&] { return member.joins > joins; });
  auto* answers = rd_kafka_queue_new(member.client);
  (void)rd_kafka_commit_queue(member.client, one(mock_topic, 0, 5).get(), answers, nullptr, nullptr);
  auto* answer = rd_kafka_queue_poll(answers, 60000);
  const auto code = answer == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(answer);
  bool lost = false;
  const auto begin = Clock::now();
  while (!lost && since(begin) < seconds(5)) {
    const auto event = member.asked(milliseconds(50));
    if (!event) continue;
    lost = event->revoked && event->lost;
    member.answer(*event);
  }
  return {lost, text("the commit answers %s; %s", rd_kafka_err2name(code),
                     lost ? "all partitions are lost" : "no partition is lost")};
}

/// On a real coordinator: a member that learns of a rebalance late makes the join last, and another one
/// commits meanwhile.
Seen commit_in_join_is_refused() {
  const auto name = create_topic(partitions);
  const Settings settings{{"group.id", name}, {"session.timeout.ms", "30000"}};
  auto slow = settings;
  slow["heartbeat.interval.ms"] = "8000";
  Member member(kafka_bootstrap(), name, settings);
  member.settle(partitions);
  join_another(kafka_bootstrap(), name, slow);
  member.settle(partitions / 2);
  std::this_thread::sleep_for(seconds(2));  // the joins that this rebalance is made of
  const int joins = member.joins;
  join_another(kafka_bootstrap(), name, settings);
  wait_for("the member joins", [&] {
    if (const auto event = member.asked()) member.answer(*event);
    return member.joins > joins;
  });
  const auto begin = Clock::now();
  auto* answers = rd_kafka_queue_new(member.client);
  (void)rd_kafka_commit_queue(member.client, one(name, 0, 0).get(), answers, nullptr, nullptr);
  auto* answer = rd_kafka_queue_poll(answers, 60000);
  const auto code = answer == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(answer);
  return {code != RD_KAFKA_RESP_ERR_NO_ERROR,
          text("%s after %lld ms", rd_kafka_err2name(code), static_cast<long long>(since(begin).count()))};
}

Seen commit_of_others_is_taken() {
  const Mock mock;
  mock.create(mock_topic, 2);
  rd_kafka_t* client = consumer(mock.bootstrap());
  rd_kafka_assign(client, one(mock_topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  const auto later = one(mock_topic, 1, 10);
  const auto earlier = one(mock_topic, 1, 5);
  const auto first = rd_kafka_commit(client, later.get(), 0);
  const auto second = rd_kafka_commit(client, earlier.get(), 0);
  const auto committed = one(mock_topic, 1);
  (void)rd_kafka_committed(client, committed.get(), 30000);
  const auto offset = committed->elems[0].offset;
  return {first == RD_KAFKA_RESP_ERR_NO_ERROR && second == RD_KAFKA_RESP_ERR_NO_ERROR && offset == 5,
          text("10, then 5 of a partition that is not assigned: %lld is committed",
               static_cast<long long>(offset))};
}

Seen popping_keeps_membership() {
  const Mock mock;
  mock.create(mock_topic);
  const Settings hasty{{"session.timeout.ms", "4000"}, {"max.poll.interval.ms", "5000"}};
  Member popping(mock.bootstrap(), mock_topic, hasty);
  auto* queue = own_queue(popping.client, mock_topic, 0);
  auto quiet_settings = hasty;
  quiet_settings["group.id"] = "quiet";
  Member quiet(mock.bootstrap(), mock_topic, quiet_settings);
  wait_for("both members have their partition", [&] {
    for (auto* member : {&popping, &quiet})
      if (const auto event = member->asked()) member->answer(*event);
    return popping.size() == 1 && quiet.size() == 1;
  });
  for (const auto begin = Clock::now(); since(begin) < seconds(10);) (void)pop(queue, milliseconds(100));
  const auto expelled = [](Member& member) {
    const auto begin = Clock::now();
    while (since(begin) < seconds(1))
      if (const auto event = member.asked(milliseconds(50))) return event->revoked;
    return false;
  };
  const bool quiet_one = expelled(quiet);
  const bool popping_one = expelled(popping);
  return {quiet_one && !popping_one,
          text("10 s with an interval of 5 s: the member that pops %s, the one that does nothing %s",
               popping_one ? "is expelled" : "stays", quiet_one ? "is expelled" : "stays")};
}

/// What a member does that sees new partitions of its topic while it has not answered a revocation.
struct Overtaken {
  bool joined;         // without waiting for the answer
  bool assigned;       // and has a new assignment
  bool joins_a_third;  // after its answer it takes part in the next rebalance
};

Overtaken overtake(const char* strategy) {
  const auto name = create_topic(4);
  const Settings settings{{"group.id", name},
                          {"partition.assignment.strategy", strategy},
                          {"topic.metadata.refresh.interval.ms", "500"}};
  Member member(kafka_bootstrap(), name, settings);
  member.settle(4);
  join_another(kafka_bootstrap(), name, settings);
  std::optional<Asked> revocation;
  wait_for("partitions are revoked", [&] {
    revocation = member.asked();
    if (revocation && !revocation->revoked) member.answer(*revocation);
    return revocation && revocation->revoked;
  });
  const int joins = member.joins;
  add_partitions(name, 6);
  Overtaken result{};
  result.joined = eventually([&] { return member.joins > joins; }, seconds(15));
  std::optional<Asked> next;
  result.assigned =
      result.joined && eventually([&] { return (next = member.asked()) && !next->revoked; }, seconds(5));
  member.answer(*revocation);
  if (next) member.answer(*next);
  for (const auto begin = Clock::now(); since(begin) < seconds(10);)
    if (const auto event = member.asked(milliseconds(50))) member.answer(*event);
  const int before_third = member.joined;
  join_another(kafka_bootstrap(), name, settings);
  result.joins_a_third = eventually(
      [&] {
        if (const auto event = member.asked()) member.answer(*event);
        return member.joined > before_third;
      },
      seconds(30));
  return result;
}

std::string words(const Overtaken& seen) {
  return text("%s, %s; %s", seen.joined ? "joins" : "does not join",
              seen.assigned ? "is given partitions meanwhile" : "is given no partitions meanwhile",
              seen.joins_a_third ? "takes part in the next rebalance"
                                 : "does not join when a third member comes (30 s)");
}

Seen eager_goes_on() {
  const auto seen = overtake("range");
  return {seen.joined, words(seen)};
}

Seen cooperative_falls_silent() {
  const auto seen = overtake("cooperative-sticky");
  return {!seen.joins_a_third, words(seen)};
}

}  // namespace

const std::vector<Fact> group_facts = {
    {"12", on_mock, "Popping any queue counts as polling: `max.poll.interval.ms` watches no rebalances.",
     "app/process/watchdog.h", popping_keeps_membership},
    {"14", on_mock, "Under `cooperative-sticky` a commit in the middle of a join costs all partitions.",
     "lib/kafka/group/join_watch.h", commit_in_join_loses},
    {"14-refused", on_kafka,
     "A commit that is sent during a join is answered after the join, with a refusal.",
     "lib/lane/member/member_commits.cpp", commit_in_join_is_refused},
    {"15", on_mock, "A commit of partitions that are not assigned is sent, and may go back.",
     "lib/lane/member/member_commits.cpp", commit_of_others_is_taken},
    {"31", on_mock, "Partitions that a member keeps stand still until the member has answered a revocation.",
     "lib/lane/member/rebalance_machine.h", kept_stand_still},
    {"39", on_kafka, "With `group.protocol: consumer` kept partitions stand still, too.",
     "lib/lane/member/rebalance_machine.h", kept_stand_still_by_consumer_protocol},
    {"34", on_kafka,
     "A member of an eager group that sees new partitions joins before it has answered a revocation.",
     "lib/lane/member/rebalance_machine.h", eager_goes_on},
    {"34-cooperative", on_kafka,
     "Under `cooperative-sticky` such a member takes part in no rebalance any more.",
     "lib/kafka/group/join_watch.h", cooperative_falls_silent},
};

}  // namespace client_facts
