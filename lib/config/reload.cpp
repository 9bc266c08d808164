#include "config/reload.h"

#include <array>
#include <map>

#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

constexpr const char* in_flight = "";
constexpr const char* client = "the Kafka clients are made at the start";
constexpr const char* handler = "the handler is made at the start";
constexpr const char* order = "records at work follow the old order";
constexpr const char* topics_at_start = "topics are looked for and created at the start";
constexpr const char* assignment = "it is counted from a lane's assignment on";
constexpr const char* listener = "the admin server listens from the start on";
constexpr const char* opened = "it is opened at the start";

const std::map<std::string_view, const char*>& table() {
  static const std::map<std::string_view, const char*> keys = {
      {"topics", "the group's members have subscribed to the old ones"},
      {"consumers", "the group's members join at the start"},
      {"start_deadline", in_flight},
      {"allow_insecure", client},
      {"lanes.workers", in_flight},
      {"lanes.queue", in_flight},
      {"lanes.order", order},
      {"lanes.null_keys", order},
      {"lanes.memory", "the client's buffers are fixed at the start"},
      {"lanes.pause_after", in_flight},
      {"lanes.drain", in_flight},
      {"lanes.drain_queued", in_flight},
      {"lanes.max_incomplete", in_flight},
      {"lanes.rate.records", in_flight},
      {"lanes.rate.bytes", in_flight},
      {"lanes.rate.burst", in_flight},
      {"commit.interval", in_flight},
      {"commit.every", in_flight},
      {"rate.records", in_flight},
      {"rate.bytes", in_flight},
      {"rate.burst", in_flight},
      {"retry.attempts", in_flight},
      {"retry.backoff", in_flight},
      {"retry.max_backoff", in_flight},
      {"retry.max_elapsed", in_flight},
      {"retry.max_waiting", in_flight},
      {"retry.topics", topics_at_start},
      {"retry.create", topics_at_start},
      {"retry.max_crashes", assignment},
      {"ledger.max_age", in_flight},
      {"ledger.policy", in_flight},
      {"dead_letter.topic", topics_at_start},
      {"dead_letter.headers", "what writes dead letters is made at the start"},
      {"dead_letter.create", topics_at_start},
      {"dead_letter.max_rate", in_flight},
      {"breaker.failures", in_flight},
      {"breaker.window", in_flight},
      {"breaker.probe", in_flight},
      {"breaker.slow", in_flight},
      {"journal.file", opened},
      {"admin.enabled", listener},
      {"admin.listen", listener},
      {"admin.token_file", in_flight},
      {"admin.ready.stall", in_flight},
      {"admin.pool_aliases", listener},
      {"log.level", in_flight},
      {"log.format", opened},
      {"trace.otlp", "the exporter of spans is made at the start"},
      {"trace.sample", "the exporter of spans is made at the start"},
  };
  return keys;
}

bool of_handler(const std::string& key, const std::string& name) {
  return !key.starts_with("handler.") || key.starts_with("handler." + name + ".");
}

/// What is printed is the same where what differs is a secret.
Change change(std::string key, std::string before, std::string after, std::string restart) {
  if (before == after) before += before.empty() ? "(a secret)" : " (with another secret)";
  return {std::move(key), std::move(before), std::move(after), std::move(restart)};
}

std::string shown(const ClientSetting* setting) {
  if (setting == nullptr) return {};
  return setting->secret ? "\"*****\"" : yaml_scalar(setting->value);
}

void add_client_keys(const Config& before, const Config& after, std::vector<Change>& found) {
  const auto find = [](const Config& config, const std::string& key) {
    const auto entry = config.kafka.find(key);
    return entry == config.kafka.end() ? nullptr : &entry->second;
  };
  auto all = before.kafka;
  all.insert(after.kafka.begin(), after.kafka.end());
  for (const auto& [key, any] : all) {
    const auto* old = find(before, key);
    const auto* now = find(after, key);
    if (old != nullptr && now != nullptr && old->value == now->value) continue;
    found.push_back(change("kafka." + key, shown(old), shown(now), client));
  }
}

}  // namespace

const char* restart_reason(std::string_view key) {
  if (key.starts_with("handler.")) return handler;
  const auto found = table().find(key);
  return found == table().end() ? nullptr : found->second;
}

std::vector<Change> changes(const Config& before, const Config& after) {
  std::vector<Change> found;
  add_client_keys(before, after, found);
  const auto& name = handler_name(before);
  const bool same_handler = name == handler_name(after);
  if (!same_handler) found.push_back({"handler", name, handler_name(after), handler});
  for (const Property& property : properties()) {
    if (!of_handler(property.name, name) || (!same_handler && property.name.starts_with("handler.")))
      continue;
    if (property.same(before, after)) continue;
    const char* reason = restart_reason(property.name);
    found.push_back(change(property.name, property.print(before), property.print(after),
                           reason == nullptr ? "it is not known how to change it in flight" : reason));
  }
  return found;
}

std::string Change::text() const {
  const auto said = [](const std::string& value) { return value.empty() ? "(not set)" : value; };
  return key + ": " + said(before) + " → " + said(after);
}

std::string needs_restart(const std::vector<Change>& changes) {
  std::string text;
  for (const auto& change : changes)
    if (!change.restart.empty()) text += change.text() + ": needs a restart: " + change.restart + "\n";
  return text;
}

}  // namespace laneway::config
