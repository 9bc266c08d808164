#include "lane/stage/between_stages.h"

#include <algorithm>
#include <utility>

#include "handler/content.h"
#include "handler/format/gathered_json.h"
#include "lane/batch/work_batch.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

using handler::Item;
using handler::Part;
using handler::Parts;
using kafka::copy_of;

/// A copy of the record without its value.
kafka::RecordData frame_of(const kafka::Record& record) {
  kafka::RecordData data;
  data.topic = record.topic();
  data.partition = record.partition();
  data.offset = record.offset();
  data.timestamp = record.timestamp();
  data.timestamp_type = record.timestamp_type();
  data.key = copy_of(record.raw_key());
  for (const auto& header : record.raw_headers())
    data.headers.emplace_back(header.name, copy_of(header.value));
  return data;
}

void replace_header(kafka::RecordData& data, std::string_view name, std::optional<std::string> value) {
  std::erase_if(data.headers, [&](const auto& header) { return header.first == name; });
  data.headers.emplace_back(name, std::move(value));
}

/// `whole`: the record that the result is of, which outlives a result that keeps its value.
kafka::Record record_of(kafka::RecordData frame, Part part, const kafka::Record& whole) {
  if (part.key) frame.key = std::move(part.key);
  for (auto& [name, value] : part.headers) replace_header(frame, name, std::move(value));
  if (part.keeps_value) return kafka::Record(frame, &whole);
  frame.value = std::move(part.value);
  return kafka::Record(frame);
}

void copy_value(Part& part, const kafka::Record& whole) {
  if (std::exchange(part.keeps_value, false)) part.value = copy_of(whole.raw_value());
}

/// A record of a retry topic still belongs to it in the next pool.
std::unique_ptr<handler::FailureHistory> history_for_next(const Item& item) {
  if (!item.failures || item.failures->retry_step == nullptr) return nullptr;
  auto history = std::make_unique<handler::FailureHistory>();
  history->retry_step = item.failures->retry_step;
  history->retry_offset = item.failures->retry_offset;
  history->attempts_before = history->last_attempt = item.failures->attempts_before;
  history->waiting_since_ms = item.failures->waiting_since_ms;
  history->parked_at = item.failures->parked_at;
  return history;
}

/// The item in the next pool, whose attempts count from the beginning.
void begin_anew(Item& item) {
  item.failures = history_for_next(item);
  item.attempt = item.failures ? item.failures->attempts_before + 1 : 1;
  item.state = handler::ItemState::unanswered;
  item.key = 0;
  item.arrived = {};
}

/// In front of the ids of sub-jobs, once for each time that sub-jobs of the record were gathered before: the
/// record may be split into the same ids again then.
constexpr std::string_view gathered_before = "gathered/";

/// Whether the sub-jobs come from the same split of the record, by what is in front of their ids.
bool from_split(std::string_view id, std::uint32_t gathered) {
  // A user's sub-job with that name has two slashes behind it (name_parts).
  for (; id.starts_with(gathered_before) && !id.substr(gathered_before.size()).starts_with('/'); --gathered) {
    if (gathered == 0) return false;
    id.remove_prefix(gathered_before.size());
  }
  return gathered == 0;
}

void name_parts(Parts& parts, const handler::Progress& split) {
  std::string path;
  if (!split.part.empty()) path = split.part + '/';
  if (path.ends_with(gathered_before)) path += '/';
  for (std::uint32_t i = 0; split.part.empty() && i < split.gathered; ++i) path += gathered_before;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& id = parts[i].id;
    if (id.empty()) id = std::to_string(i);
    id.insert(0, path);
  }
}

/// Whether `inner` is the sub-job `outer`, or comes from it.
bool comes_from(std::string_view inner, std::string_view outer) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

/// Keeps the sub-jobs on the way to the wanted one, and those that it is split into itself. The results of
/// all sub-jobs of an earlier split are needed to come to a later one.
void keep_wanted(Parts& parts, const std::string& wanted, std::uint32_t gathered) {
  if (wanted.empty() || !from_split(wanted, gathered)) return;
  std::erase_if(
      parts, [&](const Part& part) { return !comes_from(wanted, part.id) && !comes_from(part.id, wanted); });
}

/// The sub-job, or the one of its own sub-jobs for which alone the record came back.
std::string part_to_come_back(const handler::Progress& progress, const kafka::Record& origin) {
  auto wanted = handler::Content(origin).wanted_sub_job();
  const bool within = from_split(wanted, progress.gathered) && comes_from(wanted, progress.part);
  return within ? std::move(wanted) : progress.part;
}

/// Someone sent the record back for a sub-job that does not run.
void log_unknown(const Item& item, const std::string& wanted) {
  const auto& origin = origin_of(item);
  telemetry::warn("sub-job unknown", {{"topic", origin.topic()},
                                      {"partition", origin.partition()},
                                      {"offset", item.offset()},
                                      {"sub_job", wanted},
                                      {"hint",
                                       "the record is not split into this sub-job any more, so that "
                                       "nothing was run for the record"}});
}

void replace_value(Item& item, Part part) {
  copy_value(part, item.record);
  auto record = record_of(frame_of(item.record), std::move(part), item.record);
  auto& progress = *item.progress;
  if (!progress.gathering && !progress.origin) progress.origin = std::move(item.record);
  item.record = std::move(record);
}

void split(Item done, Parts parts, int gatherer, handler::Gathering::Memory memory, std::vector<Item>& next) {
  const auto sequence = done.sequence;
  const bool left_behind = done.left_behind;
  const bool suspect = done.suspect;
  auto frame = frame_of(done.record);
  std::erase_if(frame.headers, [](const auto& header) { return header.first == part_header; });
  auto history = history_for_next(done);
  const auto times_gathered = done.progress->gathered;
  // What is gathered together is one split: a sub-job of a sub-job takes the place of the latter.
  auto gathering = done.progress->gathering;
  std::size_t first = 0;
  if (gathering && gatherer >= 0 && gathering->gatherer() == gatherer) {
    first = gathering->split(done.progress->index, parts.size());
    // The gathering has the value only if this sub-job keeps it, too.
    if (!done.record.borrows_value())
      for (auto& part : parts) copy_value(part, done.record);
  } else {
    done.record.detach();  // it may stay for long
    const auto bytes = memory_of(done);
    gathering = std::make_shared<handler::Gathering>(std::move(done), bytes, parts.size(), gatherer, memory);
  }
  const auto& whole = done.record ? done.record : gathering->whole().record;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Item item;
    item.sequence = sequence;
    item.left_behind = left_behind;
    item.suspect = suspect;
    if (history) item.failures = std::make_unique<handler::FailureHistory>(*history);
    item.progress = std::make_unique<handler::Progress>();
    item.progress->part = parts[i].id;
    item.progress->index = first + i;
    item.progress->gathered = times_gathered;
    item.progress->gathering = gathering;
    item.record = record_of(frame, std::move(parts[i]), whole);
    begin_anew(item);
    next.push_back(std::move(item));
  }
}

}  // namespace

const kafka::Record& origin_of(const Item& item) {
  if (!item.progress) return item.record;
  if (item.progress->gathering) return origin_of(item.progress->gathering->whole());
  return item.progress->origin ? item.progress->origin : item.record;
}

std::shared_ptr<Parts> take_results(Item& done) {
  auto results = std::exchange(done.progress->results, nullptr);
  if (results)
    for (auto& part : *results) copy_value(part, done.record);
  return results;
}

RecordEvent pass_on(Item& done, int gatherer, handler::Gathering::Memory memory, std::vector<Item>& next) {
  const auto results = std::exchange(done.progress->results, nullptr);
  if (!results) {
    begin_anew(done);
    next.push_back(std::move(done));
    return RecordEvent::passed_on;
  }
  auto parts = std::move(*results);
  if (parts.size() == 1 && parts.front().id.empty()) {
    replace_value(done, std::move(parts.front()));
    begin_anew(done);
    next.push_back(std::move(done));
    return RecordEvent::passed_on;
  }
  name_parts(parts, *done.progress);
  const auto wanted = handler::Content(origin_of(done)).wanted_sub_job();
  const bool split_into_none = parts.empty();
  keep_wanted(parts, wanted, done.progress->gathered);
  if (parts.empty()) {
    if (!split_into_none) log_unknown(done, wanted);
    return RecordEvent::done;
  }
  split(std::move(done), std::move(parts), gatherer, memory, next);
  return RecordEvent::split_up;
}

Item gathered(Item whole, const std::vector<handler::Gathering::Result>& results) {
  ++whole.begin_progress().gathered;
  Part part;
  part.value = handler::gathered_json(results);
  replace_value(whole, std::move(part));
  begin_anew(whole);
  return whole;
}

void restore_whole(Item& item) {
  if (!item.progress) return;
  auto& progress = *item.progress;
  const bool may_come_back = item.route() == handler::Route::parked;
  if (!progress.gathering && !progress.origin) return;
  if (!progress.gathering && !may_come_back) {
    item.record = std::exchange(progress.origin, {});
    return;
  }
  const auto& origin = origin_of(item);
  auto data = frame_of(origin);
  data.value = copy_of(origin.raw_value());
  if (progress.gathering) replace_header(data, part_header, part_to_come_back(progress, origin));
  if (may_come_back) progress.own = std::move(item.record);
  item.record = kafka::Record(data);
}

}  // namespace laneway::lane
