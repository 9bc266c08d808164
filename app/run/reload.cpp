#include "app/run/reload.h"

#include "config/reload.h"
#include "config/text.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

using Answer = service::ControlAnswer;
using Changes = std::vector<config::SettingChange>;

constexpr std::size_t most_logged = 50;

/// Logs a line for each line of `why`.
void log_refusal(const std::string& what, const std::string& why, const char* by) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < why.size() && lines < most_logged; ++lines) {
    const auto end = std::min(why.find('\n', at), why.size());
    telemetry::warn("reload refused, nothing is changed",
                    {{"by", by}, {"why", what}, {"error", why.substr(at, end - at)}});
    at = end + 1;
  }
}

void log_changes(const Changes& changes, const std::vector<std::string>& warnings, const char* by) {
  for (const auto& change : changes)
    telemetry::info("setting changed", {{"key", change.key}, {"from", change.before}, {"to", change.after}});
  for (const auto& warning : warnings) telemetry::warn("configuration", {{"warning", warning}});
  telemetry::info("reloaded", {{"by", by}, {"changed", changes.size()}});
}

Answer answer(const Changes& changes, const std::vector<std::string>& warnings, bool dry_run) {
  std::string text = "nothing has changed";
  if (!changes.empty())
    text = config::counted(changes.size(), "setting") + (dry_run ? " would be changed:" : " changed:");
  for (const auto& change : changes) text += "\n" + change.text();
  for (const auto& warning : warnings) text += "\nwarning: " + warning;
  return {Answer::Kind::done, text};
}

}  // namespace

Answer Reloader::reload(const char* by, bool dry_run) {
  MutexLock lock(mutex_);
  const auto reopened = dry_run ? Status() : reopen();
  auto answer = reload_settings(by, dry_run);
  if (!reopened)
    answer.text += "\nwarning: the journal could not be opened again, and goes on in the file that it has: " +
                   reopened.error().text();
  return answer;
}

Status Reloader::reopen_journal() {
  MutexLock lock(mutex_);
  return reopen();
}

Status Reloader::reopen() {
  auto reopened = service_.reopen_journal();
  if (!reopened)
    telemetry::error("the journal could not be opened again, and goes on in the file that it has",
                     {{"error", reopened.error().text()}});
  else if (const auto& file = service_.settings()->journal.file; !file.empty())
    telemetry::info("journal opened again", {{"file", file}});
  return reopened;
}

Answer Reloader::reload_settings(const char* by, bool dry_run) {
  const auto refuse = [&](Answer::Kind kind, const std::string& what, const std::string& why) {
    if (!dry_run) log_refusal(what, why, by);
    return Answer{kind, "nothing is changed: " + what + "\n" + why.substr(0, why.find_last_not_of('\n') + 1)};
  };
  const auto loaded = load_();
  if (!loaded.config)
    return refuse(Answer::Kind::invalid, "the configuration is wrong", config::report(loaded.errors));
  const auto changes = config::changes(*service_.settings(), *loaded.config);
  if (const auto restart = config::needs_restart(changes); !restart.empty())
    return refuse(Answer::Kind::invalid, "some changes need a restart", restart);
  if (dry_run) return answer(changes, loaded.warnings, true);
  const auto changed = changes.empty() ? Status{} : service_.change(*loaded.config);
  if (!changed)
    return refuse(Answer::Kind::refused, "the change is not possible now", changed.error().text());
  telemetry::set_log_level(static_cast<telemetry::Level>(loaded.config->log.level));
  log_changes(changes, loaded.warnings, by);
  return answer(changes, loaded.warnings, false);
}

}  // namespace laneway::app
