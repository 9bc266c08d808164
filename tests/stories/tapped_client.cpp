#include "stories/tapped_client.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "lane/shared/crash_watch.h"
#include "stories/copies.h"

namespace laneway::stories {
namespace {

using List = rd_kafka_topic_partition_list_t;

struct Known {
  Tap* tap = nullptr;
  std::string member;
};

Mutex registry;
std::map<std::string, Tap*> taps GUARDED_BY(registry);
std::map<Client, Known> clients GUARDED_BY(registry);
std::map<const void*, Known> commit_queues GUARDED_BY(registry);
std::map<std::pair<const void*, std::uintptr_t>, std::uint64_t> commits_under_way GUARDED_BY(registry);

/// The name of a story is all before the first dash.
Tap* tap_of(const std::string& name) {
  MutexLock lock(registry);
  const auto found = taps.find(name.substr(0, name.find('-')));
  return found == taps.end() ? nullptr : found->second;
}

std::optional<Known> known(Client client) {
  MutexLock lock(registry);
  const auto found = clients.find(client);
  if (found == clients.end()) return std::nullopt;
  return found->second;
}

void forget(Client client) {
  MutexLock lock(registry);
  clients.erase(client);
}

std::vector<TopicPartition> partitions_of(const List* list) {
  std::vector<TopicPartition> all;
  for (int i = 0; list != nullptr && i < list->cnt; ++i)
    all.push_back({list->elems[i].topic, list->elems[i].partition});
  return all;
}

std::vector<CommittedOffset> offsets_of(const List* list) {
  std::vector<CommittedOffset> all;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& place = list->elems[i];
    all.push_back({{place.topic, place.partition},
                   place.offset,
                   std::string(text_of(place.metadata, place.metadata_size))});
  }
  return all;
}

void set_metadata(rd_kafka_topic_partition_t& place, const std::string& text) {
  rd_kafka_mem_free(nullptr, place.metadata);
  auto* copy = static_cast<char*>(rd_kafka_mem_malloc(nullptr, std::max<std::size_t>(text.size(), 1)));
  std::copy(text.begin(), text.end(), copy);
  place.metadata = copy;
  place.metadata_size = text.size();
}

/// A map with so many records right above what is committed.
std::string map_above(std::int64_t offset, std::int64_t records) {
  return lane::encode(lane::CompletionMap{offset, {{offset + 1, offset + 1 + records}}});
}

/// What is committed without the word that says that an operator has suspended the partition.
void forget_suspension(rd_kafka_topic_partition_t& place) {
  std::string text(text_of(place.metadata, place.metadata_size));
  const auto at = text.find("suspended=");
  if (at == std::string::npos) return;
  set_metadata(place, text.erase(at, text.find(' ', at) - at + 1));
}

/// Changes what is committed as the story's bug would.
void plant(Tap& tap, List& list) {
  for (int i = 0; i < list.cnt; ++i) {
    auto& place = list.elems[i];
    switch (tap.bug()) {
      case Bug::commits_one_too_many:
        ++place.offset;
        break;
      case Bug::commits_what_was_taken:
        place.offset += 20;
        break;
      case Bug::map_has_an_unfinished_record:
        set_metadata(place, map_above(place.offset, 10));
        break;
      case Bug::commits_an_older_offset:
        if (tap.once_in(3)) place.offset = std::max<std::int64_t>(0, place.offset - 30);
        break;
      default:
        break;
    }
  }
}

struct ListCopy {
  explicit ListCopy(const List& original) : list(rd_kafka_topic_partition_list_copy(&original)) {}
  ~ListCopy() { rd_kafka_topic_partition_list_destroy(list); }
  ListCopy(const ListCopy&) = delete;
  List* list;
};

}  // namespace

Tap::Tap(std::string name, Facts& facts) : name_(std::move(name)), facts_(facts) {
  MutexLock lock(registry);
  taps[name_] = this;
}

Tap::~Tap() {
  MutexLock lock(registry);
  taps.erase(name_);
  std::erase_if(clients, [&](const auto& client) { return client.second.tap == this; });
  std::erase_if(commit_queues, [&](const auto& queue) { return queue.second.tap == this; });
}

void Tap::abandon(const std::string& member) {
  MutexLock lock(mutex_);
  abandoned_.insert(member);
}

bool Tap::abandoned(const std::string& member) const {
  MutexLock lock(mutex_);
  return abandoned_.contains(member);
}

}  // namespace laneway::stories

// The names are the linker's.
using namespace laneway::stories;
using laneway::MutexLock;

extern "C" {

rd_kafka_mock_cluster_t* __real_rd_kafka_mock_cluster_new(rd_kafka_t* rk, int brokers);
rd_kafka_mock_cluster_t* __wrap_rd_kafka_mock_cluster_new(rd_kafka_t* rk, int brokers) {
  auto* cluster = __real_rd_kafka_mock_cluster_new(rk, brokers);
#if RD_KAFKA_VERSION >= 0x020600ff
  if (cluster != nullptr) rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 300);
#endif
  return cluster;
}

rd_kafka_t* __real_rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t* conf, char* text, std::size_t size);
rd_kafka_t* __wrap_rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t* conf, char* text, std::size_t size) {
  char id[128] = "";
  std::size_t length = sizeof id;
  if (conf != nullptr) (void)rd_kafka_conf_get(conf, "client.id", id, &length);
  auto* client = __real_rd_kafka_new(type, conf, text, size);
  auto* tap = tap_of(id);
  if (tap != nullptr && client != nullptr) {
    tap->facts().client_is(client, id);
    MutexLock lock(registry);
    clients[client] = {tap, id};
  }
  return client;
}

void __real_rd_kafka_destroy(rd_kafka_t* rk);
void __wrap_rd_kafka_destroy(rd_kafka_t* rk) {
  forget(rk);
  __real_rd_kafka_destroy(rk);
}

void __real_rd_kafka_destroy_flags(rd_kafka_t* rk, int flags);
void __wrap_rd_kafka_destroy_flags(rd_kafka_t* rk, int flags) {
  forget(rk);
  __real_rd_kafka_destroy_flags(rk, flags);
}

rd_kafka_resp_err_t __real_rd_kafka_committed(rd_kafka_t* rk, List* list, int timeout);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t* rk, List* list, int timeout) {
  const auto by = known(rk);
  if (by)
    for (const auto& partition : partitions_of(list)) by->tap->facts().asks_committed(rk, partition);
  const auto code = __real_rd_kafka_committed(rk, list, timeout);
  if (!by || code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  for (int i = 0; i < list->cnt; ++i) {
    auto& place = list->elems[i];
    if (by->tap->bug() == Bug::a_foreign_map_counts && place.offset >= 0)
      set_metadata(place, map_above(place.offset, 10));
    if (by->tap->bug() == Bug::a_suspension_is_not_handed_over) forget_suspension(place);
    if (by->tap->bug() == Bug::begins_at_the_end && place.offset > 0) place.offset += 10;
  }
  return code;
}

rd_kafka_resp_err_t __real_rd_kafka_assign(rd_kafka_t* rk, const List* list);
rd_kafka_resp_err_t __wrap_rd_kafka_assign(rd_kafka_t* rk, const List* list) {
  if (const auto by = known(rk)) {
    by->tap->facts().assigned(rk, partitions_of(list), true);
    if (list != nullptr && list->cnt > 0 && by->tap->bug() == Bug::a_partition_is_not_read) {
      const ListCopy copy(*list);
      (void)rd_kafka_topic_partition_list_del_by_idx(copy.list, 0);
      return __real_rd_kafka_assign(rk, copy.list);
    }
  }
  return __real_rd_kafka_assign(rk, list);
}

rd_kafka_error_t* __real_rd_kafka_incremental_assign(rd_kafka_t* rk, const List* list);
rd_kafka_error_t* __wrap_rd_kafka_incremental_assign(rd_kafka_t* rk, const List* list) {
  if (const auto by = known(rk)) {
    by->tap->facts().assigned(rk, partitions_of(list), false);
    if (list->cnt > 0 && by->tap->bug() == Bug::a_partition_is_not_read) {
      const ListCopy copy(*list);
      (void)rd_kafka_topic_partition_list_del_by_idx(copy.list, 0);
      return __real_rd_kafka_incremental_assign(rk, copy.list);
    }
  }
  return __real_rd_kafka_incremental_assign(rk, list);
}

rd_kafka_error_t* __real_rd_kafka_incremental_unassign(rd_kafka_t* rk, const List* list);
rd_kafka_error_t* __wrap_rd_kafka_incremental_unassign(rd_kafka_t* rk, const List* list) {
  if (const auto by = known(rk)) by->tap->facts().unassigned(rk, partitions_of(list));
  return __real_rd_kafka_incremental_unassign(rk, list);
}

rd_kafka_message_t* __real_rd_kafka_consume_queue(rd_kafka_queue_t* queue, int timeout);
rd_kafka_message_t* __wrap_rd_kafka_consume_queue(rd_kafka_queue_t* queue, int timeout) {
  auto* message = __real_rd_kafka_consume_queue(queue, timeout);
  if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR || message->rkt == nullptr)
    return message;
  const std::string topic = rd_kafka_topic_name(message->rkt);
  auto* tap = tap_of(topic);
  if (tap == nullptr) return message;
  const bool large = tap->bug() == Bug::leaves_out_a_large_record && message->len > 4000;
  if ((large && tap->once_in(20)) || (tap->bug() == Bug::skips_a_record && tap->once_in(60))) {
    rd_kafka_message_destroy(message);
    return __wrap_rd_kafka_consume_queue(queue, timeout);
  }
  tap->facts().taken({topic, message->partition}, message->offset, text_of(message->payload, message->len),
                     copy_in(*message));
  return message;
}

rd_kafka_resp_err_t __real_rd_kafka_commit_queue(rd_kafka_t* rk, const List* list, rd_kafka_queue_t* queue,
                                                 void (*cb)(rd_kafka_t*, rd_kafka_resp_err_t, List*, void*),
                                                 void* opaque);
rd_kafka_resp_err_t __wrap_rd_kafka_commit_queue(rd_kafka_t* rk, const List* list, rd_kafka_queue_t* queue,
                                                 void (*cb)(rd_kafka_t*, rd_kafka_resp_err_t, List*, void*),
                                                 void* opaque) {
  const auto by = known(rk);
  if (!by || list == nullptr) return __real_rd_kafka_commit_queue(rk, list, queue, cb, opaque);
  if (by->tap->abandoned(by->member)) return RD_KAFKA_RESP_ERR__STATE;  // its stop waits for no answer
  if (by->tap->bug() == Bug::forgets_its_commits || by->tap->coordinator_lost())
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  if (by->tap->bug() == Bug::commits_are_refused_for_good && list->cnt > 1) return RD_KAFKA_RESP_ERR_UNKNOWN;
  const ListCopy copy(*list);
  plant(*by->tap, *copy.list);
  const auto number = by->tap->facts().commits(rk, offsets_of(copy.list));
  {
    MutexLock lock(registry);
    commit_queues[queue] = *by;
    commits_under_way[{queue, reinterpret_cast<std::uintptr_t>(opaque)}] = number;
  }
  return __real_rd_kafka_commit_queue(rk, copy.list, queue, cb, opaque);
}

rd_kafka_event_t* __real_rd_kafka_queue_poll(rd_kafka_queue_t* queue, int timeout);
rd_kafka_event_t* __wrap_rd_kafka_queue_poll(rd_kafka_queue_t* queue, int timeout) {
  auto* event = __real_rd_kafka_queue_poll(queue, timeout);
  if (event == nullptr || rd_kafka_event_type(event) != RD_KAFKA_EVENT_OFFSET_COMMIT) return event;
  const auto opaque = reinterpret_cast<std::uintptr_t>(rd_kafka_event_opaque(event));
  Tap* tap = nullptr;
  std::uint64_t number = 0;
  {
    MutexLock lock(registry);
    const auto commit = commits_under_way.find({queue, opaque});
    if (commit == commits_under_way.end()) return event;
    number = commit->second;
    commits_under_way.erase(commit);
    tap = commit_queues[queue].tap;
  }
  const auto* list = rd_kafka_event_topic_partition_list(event);
  std::set<TopicPartition> refused;
  for (int i = 0; list != nullptr && i < list->cnt; ++i)
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
      refused.insert({list->elems[i].topic, list->elems[i].partition});
  if (tap != nullptr && (list != nullptr || rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR))
    tap->facts().answered(number, refused);
  return event;
}

rd_kafka_error_t* __real_rd_kafka_send_offsets_to_transaction(
    rd_kafka_t* rk, const List* list, const rd_kafka_consumer_group_metadata_t* member, int timeout);
rd_kafka_error_t* __wrap_rd_kafka_send_offsets_to_transaction(
    rd_kafka_t* rk, const List* list, const rd_kafka_consumer_group_metadata_t* member, int timeout) {
  if (const auto by = known(rk)) (void)by->tap->facts().commits(rk, offsets_of(list));
  return __real_rd_kafka_send_offsets_to_transaction(rk, list, member, timeout);
}

rd_kafka_error_t* __real_rd_kafka_produceva(rd_kafka_t* rk, const rd_kafka_vu_t* fields, std::size_t count);

/// A second one of the same, without anyone who waits for an answer.
static void produce_again(rd_kafka_t* rk, std::vector<rd_kafka_vu_t> fields) {
  std::erase_if(fields, [](const auto& field) { return field.vtype == RD_KAFKA_VTYPE_OPAQUE; });
  rd_kafka_headers_t* headers = nullptr;
  for (auto& field : fields)
    if (field.vtype == RD_KAFKA_VTYPE_HEADERS)
      headers = field.u.headers = rd_kafka_headers_copy(field.u.headers);
  auto* error = __real_rd_kafka_produceva(rk, fields.data(), fields.size());
  if (error != nullptr && headers != nullptr) rd_kafka_headers_destroy(headers);
  if (error != nullptr) rd_kafka_error_destroy(error);
}

rd_kafka_error_t* __wrap_rd_kafka_produceva(rd_kafka_t* rk, const rd_kafka_vu_t* fields, std::size_t count) {
  const auto by = known(rk);
  if (!by) return __real_rd_kafka_produceva(rk, fields, count);
  if (by->tap->abandoned(by->member)) return rd_kafka_error_new(RD_KAFKA_RESP_ERR__QUEUE_FULL, "abandoned");
  std::vector<rd_kafka_vu_t> changed(fields, fields + count);
  std::string elsewhere;
  bool twice = false;
  for (auto& field : changed) {
    if (field.vtype == RD_KAFKA_VTYPE_TOPIC) {
      const std::string topic = field.u.cstr;
      const auto bug = by->tap->bug();
      const bool letter = topic.ends_with("-dlt");
      const bool retry = topic.find("-retry-") != std::string::npos;
      if (letter && bug == Bug::a_refused_letter_stops_its_lane)
        return rd_kafka_error_new(RD_KAFKA_RESP_ERR_INVALID_RECORD, "refused");
      const bool parked = retry && Produced::of(changed).writing.parked;
      twice = (letter && bug == Bug::writes_a_dead_letter_twice) ||
              (retry && bug == Bug::writes_a_record_for_retry_twice) ||
              (parked && bug == Bug::writes_a_parked_record_twice);
      if ((letter && bug == Bug::loses_a_dead_letter) || (retry && bug == Bug::loses_a_record_for_retry) ||
          (parked && bug == Bug::loses_a_parked_record)) {
        elsewhere = "elsewhere";
        field.u.cstr = elsewhere.c_str();
      }
    }
    if (field.vtype == RD_KAFKA_VTYPE_TIMESTAMP && by->tap->bug() == Bug::letters_are_as_old_as_the_record)
      field.u.i64 = 1'000'000'000'000;
  }
  const auto produced = Produced::of(changed);
  const auto copy = by->tap->facts().writes(by->member, produced.writing);
  if (produced.headers != nullptr) set_copy(produced.headers, copy);
  if (twice) produce_again(rk, changed);
  auto* error = __real_rd_kafka_produceva(rk, changed.data(), changed.size());
  // The caller has the headers again, and writes the same later.
  if (error != nullptr && produced.headers != nullptr) set_copy(produced.headers, produced.writing.of);
  return error;
}

const rd_kafka_message_t* __real_rd_kafka_event_message_next(rd_kafka_event_t* event);
const rd_kafka_message_t* __wrap_rd_kafka_event_message_next(rd_kafka_event_t* event) {
  const auto* message = __real_rd_kafka_event_message_next(event);
  if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR || message->rkt == nullptr)
    return message;
  const std::string topic = rd_kafka_topic_name(message->rkt);
  auto* tap = tap_of(topic);
  if (tap == nullptr || topic == tap->facts().source()) return message;
  tap->facts().acknowledged(topic, text_of(message->payload, message->len), copy_in(*message));
  return message;
}

rd_kafka_resp_err_t __real_rd_kafka_subscribe(rd_kafka_t* rk, const List* list);
rd_kafka_resp_err_t __wrap_rd_kafka_subscribe(rd_kafka_t* rk, const List* list) {
  const auto by = known(rk);
  if (!by || by->tap->bug() != Bug::consumes_its_dead_letters) return __real_rd_kafka_subscribe(rk, list);
  const ListCopy copy(*list);
  rd_kafka_topic_partition_list_add(copy.list, (by->tap->facts().source() + "-dlt").c_str(),
                                    RD_KAFKA_PARTITION_UA);
  return __real_rd_kafka_subscribe(rk, copy.list);
}

}  // extern "C"
