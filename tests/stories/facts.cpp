#include "stories/facts.h"

#include <algorithm>
#include <chrono>

#include "lane/commit/stored_commit.h"

namespace laneway::stories {
namespace {

constexpr int rank_of_letters = 100;
constexpr int rank_of_output = 101;
constexpr std::size_t shown = 3;               // breaches of each rule
constexpr std::size_t most_good_letters = 25;  // that an outage may cost

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Facts::Facts(const Story& story, std::string source)
    : story_(story), source_(std::move(source)), workers_(story.workers) {}

int Facts::rank_of(const std::string& topic) const {
  if (topic == source_) return 0;
  if (topic.ends_with("-dlt")) return rank_of_letters;
  if (topic.ends_with("-out")) return rank_of_output;
  return topic.ends_with("-retry-100ms") ? 1 : 2;
}

void Facts::note(const std::string& rule, const std::string& sentence) {
  const auto same = std::count_if(breaches_.begin(), breaches_.end(),
                                  [&](const auto& breach) { return breach.rule == rule; });
  if (static_cast<std::size_t>(same) < shown) breaches_.push_back({rule, sentence});
}

void Facts::breach(const std::string& rule, const std::string& sentence) {
  MutexLock lock(mutex_);
  note(rule, sentence);
}

void Facts::skipped(const TopicPartition& partition, std::int64_t offset) {
  MutexLock lock(mutex_);
  const auto& taken = taken_[partition];
  if (const auto found = taken.find(offset); found != taken.end()) skipped_.insert(found->second.id);
}

void Facts::suspended(const std::string& member, const TopicPartition& partition, bool stored) {
  MutexLock lock(mutex_);
  const auto now = ++now_;
  suspended_[partition] = {member, now, stored ? now : 0};
}

void Facts::resumed(const TopicPartition& partition) {
  MutexLock lock(mutex_);
  suspended_.erase(partition);
}

void Facts::allow_workers(std::uint32_t workers) {
  MutexLock lock(mutex_);
  workers_ = std::max(workers_, workers);
}

void Facts::client_is(Client client, const std::string& member) {
  MutexLock lock(mutex_);
  std::erase_if(lives_, [&](const auto& life) { return life.first.first == client; });
  members_[client] = member;
}

void Facts::asks_committed(Client client, const TopicPartition& partition) {
  MutexLock lock(mutex_);
  asked_[{client, partition}] = ++now_;
}

void Facts::end_life(Client client, const TopicPartition& partition) {
  lives_.erase({client, partition});
  const auto member = members_[client];
  std::erase_if(keys_, [&](const auto& key) { return key.first.first == Lane{member, partition}; });
}

void Facts::assigned(Client client, const std::vector<TopicPartition>& partitions, bool replaces) {
  if (replaces) unassigned(client, std::nullopt);
  MutexLock lock(mutex_);
  for (const auto& partition : partitions) {
    ++now_;
    const auto asked = asked_.find({client, partition});
    lives_[{client, partition}] = {members_[client], asked == asked_.end() ? now_ : asked->second, now_};
  }
}

void Facts::unassigned(Client client, const std::optional<std::vector<TopicPartition>>& partitions) {
  MutexLock lock(mutex_);
  ++now_;
  if (partitions) {
    for (const auto& partition : *partitions) end_life(client, partition);
    return;
  }
  std::vector<TopicPartition> all;
  for (const auto& [place, life] : lives_)
    if (place.first == client) all.push_back(place.second);
  for (const auto& partition : all) end_life(client, partition);
}

void Facts::taken(const TopicPartition& partition, std::int64_t offset, std::string_view value, Copy copy) {
  const auto id = id_of(value);
  if (!id) return;
  MutexLock lock(mutex_);
  auto& taken = taken_[partition][offset];
  taken = {*id, ++now_, value.size(), taken.passed_on, taken.done};
  if (copy > 0) places_[copy] = {partition, offset};
  judge_memory();
}

/// What the lanes of now have taken and not finished.
void Facts::judge_memory() {
  std::map<TopicPartition, Count> begun;
  for (const auto& [place, life] : lives_) begun[place.second] = std::max(begun[place.second], life.begun);
  std::size_t bytes = 0;
  for (const auto& [partition, since] : begun)
    for (const auto& [offset, taken] : taken_[partition])
      if (taken.at > since && !finished(taken)) bytes += taken.bytes;
  std::set<std::string> members;
  for (const auto& [client, member] : members_) members.insert(member);
  const auto most = (static_cast<std::size_t>(story_.memory_mib) << 20) * members.size();
  if (bytes > most)
    note("no more than its memory", std::to_string(members.size()) + " members hold records of " +
                                        std::to_string(bytes) + " bytes, and may hold " +
                                        std::to_string(most));
}

void Facts::judge_range(const TopicPartition& partition, std::int64_t begin, std::int64_t end,
                        const char* how) {
  const auto& taken = taken_[partition];
  for (auto at = taken.lower_bound(begin); at != taken.end() && at->first < end; ++at)
    if (!finished(at->second))
      note("nothing committed early",
           partition.text(at->first) + " (" + text(at->second.id) + ") is not finished, and " + how);
}

void Facts::judge_commit(const CommittedOffset& offset, const lane::CompletionMap& map) {
  auto& below = judged_below_[offset.partition];
  judge_range(offset.partition, below, offset.offset, "is below a committed offset");
  below = std::max(below, offset.offset);
  for (const auto& run : map.runs) judge_range(offset.partition, run.begin, run.end, "is in a committed map");
}

std::uint64_t Facts::commits(Client client, const std::vector<CommittedOffset>& offsets) {
  MutexLock lock(mutex_);
  const auto number = ++now_;
  for (const auto& offset : offsets) {
    if (offset.offset < 0) continue;
    auto map = lane::StoredCommit::read(offset).map;
    if (story_.work != Work::transactional) judge_commit(offset, map);
    sent_[offset.partition].push_back(
        {offset.partition, members_[client], offset.offset, std::move(map), number, 0});
    unanswered_[number].push_back(offset.partition);
  }
  return number;
}

void Facts::answered(std::uint64_t commit, const std::set<TopicPartition>& refused) {
  MutexLock lock(mutex_);
  const auto number = ++now_;
  for (const auto& partition : unanswered_[commit]) {
    if (refused.contains(partition)) continue;
    std::int64_t before = -1;
    for (auto& sent : sent_[partition]) {
      if (sent.sent < commit && sent.answered > 0) before = sent.offset;
      if (sent.sent != commit) continue;
      sent.answered = number;
      if (const auto found = suspended_.find(partition);
          found != suspended_.end() && found->second.by == sent.member && found->second.since < commit &&
          found->second.stored == 0)
        found->second.stored = number;
      if (sent.offset < before)
        note("offsets go forward", partition.text() + " is committed at " + std::to_string(sent.offset) +
                                       " after " + std::to_string(before));
    }
  }
  unanswered_.erase(commit);
}

Copy Facts::writes(const std::string& member, const Writing& writing) {
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  MutexLock lock(mutex_);
  const auto copy = ++now_;
  parked_ += writing.parked;
  if (const auto id = id_of(writing.value)) {
    const auto place = place_of(writing.of, {{source_, id->first}, id->second});
    const auto life = life_at(member, place.partition);
    writers_[copy] = {place, member, life ? life->begun : 0};
  }
  const auto timestamp = writing.timestamp;
  if (rank_of(writing.topic) != rank_of_output && timestamp != 0 && timestamp <= now_ms() - day_ms)
    note("letters are young",
         "a record was written to " + writing.topic + " with the timestamp " + std::to_string(timestamp));
  return copy;
}

void Facts::acknowledged(const std::string& topic, std::string_view value, Copy copy) {
  const auto id = id_of(value);
  if (!id) return;
  MutexLock lock(mutex_);
  ++now_;
  auto& fate = fates_[*id];
  const auto rank = rank_of(topic);
  if (rank == rank_of_output) fate.done = stages();
  fate.letters += rank == rank_of_letters;
  if (rank != rank_of_output) judge_copy(copy, *id, rank);
}

/// Each assignment passes each copy that it reads on once, also to the topic that it is in.
void Facts::judge_copy(Copy copy, Id id, int rank) {
  const auto& writer = writers_[copy];
  taken_[writer.of.partition][writer.of.offset].passed_on = true;
  if (++passed_on_[writer][rank] == 1) return;
  if (rank == rank_of_letters)
    note("one letter for each record", text(id) + " has two dead letters from one assignment");
  else
    note("one copy for each record", text(id) + " went twice to a retry topic from one assignment");
}

std::optional<Facts::Life> Facts::life_at(const std::string& member, const TopicPartition& partition) const {
  for (const auto& [place, life] : lives_)
    if (place.second == partition && life.member == member) return life;
  return std::nullopt;
}

/// Each copy of a record is done once.
void Facts::judge_repetition(const Life& life, const Place& place) {
  const auto& [partition, offset] = place;
  if (passed_on_.contains({place, life.member, life.begun}))
    return note("what went on does not run",
                partition.text(offset) + " begins, and went to another topic in this assignment");
  const auto done = taken_[partition][offset].done;
  if (!done || story_.pools == Pools::stages) return;
  ++repeated_;
  if (*done == life.begun)
    return note("every duplicate is explained",
                partition.text(offset) + " runs again in the assignment in which it was done");
  for (const auto& sent : sent_[partition])
    if (sent.answered > 0 && sent.answered < life.asked && sent.covers(offset))
      return note("every duplicate is explained",
                  partition.text(offset) + " runs again although it was committed as finished");
}

void Facts::judge_order(const std::string& member, const TopicPartition& partition, std::int64_t offset,
                        const std::string& key) {
  if (!ordered()) return;
  const auto of = story_.order == config::Order::key ? key : std::string();
  auto& state = keys_[{{member, partition}, of}];
  if (state.running || offset < state.last)
    note("records of a key run in their order", partition.text(offset) + " begins " +
                                                    (state.running ? "beside " : "after ") +
                                                    std::to_string(state.last));
  state = {offset, true};
}

/// A suspension holds in its member at once, and wherever the partition goes once it is stored.
void Facts::judge_suspension(const std::string& member, const TopicPartition& partition,
                             std::int64_t offset) {
  const auto found = suspended_.find(partition);
  if (found == suspended_.end()) return;
  const auto& [by, since, stored] = found->second;
  if (by == member && taken_[partition][offset].at > since)
    note("suspended is suspended", partition.text(offset) + " was taken and begins, and is suspended");
  const auto life = life_at(member, partition);
  if (stored > 0 && life && life->asked > stored)
    note("suspended is suspended",
         partition.text(offset) + " begins at " + member + ", to which its partition came with a suspension");
}

Facts::Place Facts::begins(const std::string& member, const Place& origin, const std::string& key,
                           std::string_view value, Copy copy) {
  const auto id = id_of(value);
  MutexLock lock(mutex_);
  ++now_;
  if (!id || origin.partition.topic.ends_with("-dlt")) {
    note("only its topics", "a record of " + origin.partition.topic + " runs");
    return origin;
  }
  const auto place = place_of(copy, origin);
  const auto& [partition, offset] = place;
  const auto life = life_at(member, partition);
  if (!life)
    note("only its partitions",
         partition.text(offset) + " begins at " + member + ", which has given the partition back");
  else
    judge_repetition(*life, place);
  if (story_.pools == Pools::none && ++running_[{member, partition}] > workers_)
    note("no more than its workers", member + " runs more than " + std::to_string(workers_) + " records of " +
                                         partition.text() + " at once");
  judge_suspension(member, partition, offset);
  judge_order(member, partition, offset, key);
  return place;
}

void Facts::ends(const std::string& member, const Place& place, const std::string& key,
                 std::string_view value, bool done) {
  const auto& partition = place.partition;
  const auto id = id_of(value);
  if (!id) return;
  MutexLock lock(mutex_);
  ++now_;
  if (story_.pools == Pools::none) --running_[{member, partition}];
  if (ordered()) {
    const auto state =
        keys_.find({{member, partition}, story_.order == config::Order::key ? key : std::string()});
    if (state != keys_.end()) state->second.running = false;
  }
  if (!done) return;
  ++fates_[*id].done;
  const auto life = life_at(member, partition);
  taken_[partition][place.offset].done = life ? life->begun : 0;
}

std::int64_t Facts::committed(const TopicPartition& partition) const {
  std::int64_t last = -1;
  const bool unanswered = story_.work == Work::transactional;  // in a transaction, which may be aborted
  if (const auto found = sent_.find(partition); found != sent_.end())
    for (const auto& sent : found->second) {
      if (unanswered) last = std::max(last, sent.offset);
      if (sent.answered > 0) last = sent.offset;
    }
  return last;
}

bool Facts::complete() const {
  MutexLock lock(mutex_);
  for (const auto& id : written_) {
    const auto fate = fates_.find(id);
    if (fate == fates_.end() || (fate->second.done < stages() && fate->second.letters == 0)) return false;
  }
  for (const auto& [partition, records] : taken_)
    if (!records.empty() && committed(partition) <= records.rbegin()->first) return false;
  return true;
}

void Facts::judge_end() {
  MutexLock lock(mutex_);
  std::size_t good_letters = 0;
  for (const auto& id : written_) {
    const auto& fate = fates_[id];
    const bool poison = is_poison(id, story_.poison);
    if (fate.done < stages() && fate.letters == 0)
      note(poison ? "poison is given up" : "nothing is lost",
           text(id) + (poison ? " has no dead letter" : " is neither done nor a dead letter"));
    if (poison && fate.done > 0) note("poison is given up", text(id) + " counts as done");
    good_letters += fate.letters > 0 && !poison && !skipped_.contains(id);
  }
  if (good_letters > most_good_letters)
    note("an outage gives nothing up",
         std::to_string(good_letters) + " records are dead letters although nothing is wrong with them");
  for (const auto& id : skipped_)
    if (fates_[id].letters == 0 && fates_[id].done == 0)
      note("nothing is lost", text(id) + " was skipped, and is no dead letter");
  for (const auto& [partition, records] : taken_)
    if (!records.empty() && committed(partition) <= records.rbegin()->first)
      note("all is committed", partition.text() + " is committed at " + std::to_string(committed(partition)) +
                                   ", and its last record is " + std::to_string(records.rbegin()->first));
}

std::vector<Breach> Facts::breaches() const {
  MutexLock lock(mutex_);
  return breaches_;
}

std::string Facts::figures() const {
  MutexLock lock(mutex_);
  std::size_t commits = 0;
  int letters = 0;
  for (const auto& [partition, sent] : sent_) commits += sent.size();
  for (const auto& [id, fate] : fates_) letters += fate.letters;
  return std::to_string(written_.size()) + " records, " + std::to_string(letters) + " dead letters, " +
         std::to_string(parked_) + " times parked, " + std::to_string(commits) + " offsets committed, " +
         std::to_string(repeated_) + " runs repeated";
}

}  // namespace laneway::stories
