#include "app/run/serve.h"

#include <signal.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>

#include "admin/http/listener.h"
#include "admin/json/status_json.h"
#include "admin/server/server.h"
#include "app/exit_code.h"
#include "app/process/signals.h"
#include "app/process/watchdog.h"
#include "app/run/notify.h"
#include "app/run/reload.h"
#include "kafka/access/key_files.h"
#include "kafka/client/client_support.h"
#include "service/process/process_limits.h"
#include "service/service.h"
#include "telemetry/journal_entry.h"
#include "telemetry/log.h"

namespace laneway::app {
namespace {

void set_up_log(const config::Log& log) {
  static_assert(static_cast<int>(config::LogLevel::error) == static_cast<int>(telemetry::Level::error));
  // With JSON, the log goes to standard error only: a reader wants the lines as they are.
  const bool json = log.format == config::LogFormat::json;
  telemetry::set_up_log(static_cast<telemetry::Level>(log.level),
                        json ? telemetry::Format::json : telemetry::Format::text, 2,
                        !json && telemetry::standard_error_is_journal() ? telemetry::journal_socket : "");
}

/// Stops a running service on behalf of signals and of the program, whose requests come while this object
/// exists.
class Stopper {
 public:
  Stopper(service::Service& service, Watchdog& watchdog, Notifier& notifier, Stop* requests)
      : service_(service), watchdog_(watchdog), notifier_(notifier), requests_(requests) {
    if (requests_ != nullptr) requests_->connect([this] { stop("stop()"); });
  }
  ~Stopper() {
    if (requests_ != nullptr) requests_->connect(nullptr);
  }
  Stopper(const Stopper&) = delete;

  /// `by`: the source of the request, for the log.
  void stop(const char* by) {
    const TimePoint now = SteadyClock::now();
    MutexLock lock(mutex_);
    const bool again = stopping_.exchange(true);
    if (again && now < first_ + same_wish) return;
    if (!again) first_ = now;
    const Duration limit = (again ? Duration::zero() : service_.settings()->lanes.drain) + exit_grace;
    watchdog_.arm(now + limit, exit_code::abandoned);
    notifier_.enter(Phase::stopping, limit);
    telemetry::info(again ? "drain cut short" : "stopping", {{"signal", by}, {"at_most_ms", limit}});
    service_.stop();
  }

  bool stopping() const { return stopping_.load(); }

 private:
  service::Service& service_;
  Watchdog& watchdog_;
  Notifier& notifier_;
  Stop* const requests_;  // null if the program makes none
  Mutex mutex_;
  TimePoint first_ GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};
};

/// `ends`: expiry times of the certificates in the files at the start, when the clients read them.
std::vector<telemetry::Family> families_of_process(const std::map<std::string, double>& ends) {
  telemetry::Family build(telemetry::metric("build_info"));
  build.add({{"version", LANEWAY_VERSION}, {"librdkafka", kafka::library_version()}}, 1);
  telemetry::Family certificates(telemetry::metric("client_certificate_expiry_timestamp_seconds"));
  for (const auto& [file, end] : ends) certificates.add({{"file", file}}, end);
  return {std::move(build), std::move(certificates)};
}

using Reload = std::function<service::ControlAnswer(const char* by, bool dry_run)>;

std::string absolute(const std::string& file) {
  std::error_code failure;
  return file.empty() ? "" : std::filesystem::absolute(file, failure).lexically_normal().string();
}

/// `listen`: what was wished, perhaps a range of ports.
void log_address(const std::string& listen, std::uint16_t port) {
  const auto host = listen.substr(0, listen.rfind(':') + 1);
  telemetry::info("admin listening", {{"address", host + std::to_string(port)}});
  const auto wish = admin::address_of(listen);
  if (wish && wish->last != wish->port && port != wish->port)
    telemetry::warn("admin address given way",
                    {{"taken", host + std::to_string(wish->port)},
                     {"address", host + std::to_string(port)},
                     {"advice",
                      "another program has the first port; a monitoring system finds this service at "
                      "a lasting address if admin.listen names one"}});
}

Result<std::unique_ptr<admin::Server>> start_admin(const config::Config& config, const std::string& file,
                                                   service::Service& service, const Reload& reload) {
  const auto& settings = config.admin;
  if (!settings.enabled) return std::unique_ptr<admin::Server>();
  auto server = admin::Server::start(
      settings.listen,
      {.metrics =
           [&service, ends = kafka::certificate_ends(config), aliases = settings.pool_aliases] {
             return telemetry::render_metrics(
                 {[&ends] { return families_of_process(ends); }, [&service] { return service.families(); }},
                 telemetry::series_per_family, aliases);
           },
       .live = [&service] { return service.live(); },
       .ready = [&service] { return service.readiness(); },
       .status = [&service] { return admin::status_json(service.status(), LANEWAY_VERSION); },
       .history = [&service](std::uint64_t after) { return admin::history_json(service.timeline(after)); },
       .control = [&service](const service::ControlRequest& request) { return service.control(request); },
       .reload = [reload](const admin::ReloadRequest& wish) { return reload("POST /reload", wish.dry_run); },
       .token = [&service] { return service.settings()->admin.token; },
       .identity = {config.client("group.id"), absolute(file)}});
  if (server) log_address(settings.listen, (*server)->port());
  return server;
}

int refuse_start(const Error& error) {
  const int code = exit_code_of(error.kind);
  telemetry::error("cannot start", {{"exit_code", code}, {"error", error.text()}});
  return code;
}

int cannot_start(const Error& error, Watchdog& watchdog, Notifier& notifier) {
  const int code = refuse_start(error);
  watchdog.arm(SteadyClock::now() + exit_grace, code);
  notifier.enter(Phase::stopping, exit_grace, "cannot start: " + error.text());
  return code;
}

int end(const service::Ended& ended, Watchdog& watchdog, Notifier& notifier) {
  const int without_error = ended.abandoned + ended.uncommitted > 0 ? exit_code::abandoned : exit_code::done;
  const int code = ended.error ? exit_code_of(ended.error->kind) : without_error;
  watchdog.arm(SteadyClock::now() + exit_grace, code);
  if (ended.error) telemetry::error("ended by an error", {{"error", ended.error->text()}});
  notifier.enter(Phase::stopping, exit_grace,
                 ended.error ? "ended by an error: " + ended.error->text()
                             : "stopped, records abandoned: " + std::to_string(ended.abandoned) +
                                   ", finished and not committed: " + std::to_string(ended.uncommitted));
  telemetry::info("stopped",
                  {{"abandoned", ended.abandoned}, {"uncommitted", ended.uncommitted}, {"exit_code", code}});
  if (ended.stuck) end_process(code);
  return code;
}

int serve_until_stopped(const config::Config& config, const std::string& file, Serving serving) {
  // Destroyed in the reverse order; the watchdog, as the first, covers all of it.
  Watchdog watchdog;
  service::Service service(config, std::move(serving.handler));
  Notifier notifier({.live = [&service] { return service.live(); },
                     .ready = [&service] { return service.readiness(); },
                     .lanes = [&service] { return service.snapshot(); }},
                    serving.signals);
  notifier.enter(Phase::starting, config.start_deadline + exit_grace);
  Stopper stopper(service, watchdog, notifier, serving.stop);
  Reloader reloader(std::move(serving.load), service);
  const Reload reload = [&](const char* by, bool dry_run) {
    const auto begun = SteadyClock::now();
    auto answer = reloader.reload(by, dry_run);
    if (!dry_run) notifier.reloaded(begun);
    return answer;
  };
  std::optional<Signals> signals;
  if (serving.signals)
    signals.emplace([&](int signal) {
      if (signal == SIGHUP)
        (void)reload("SIGHUP", false);
      else if (signal == SIGUSR1)
        (void)reloader.reopen_journal();
      else
        stopper.stop(signal == SIGINT ? "SIGINT" : "SIGTERM");
    });
  const auto admin = start_admin(config, file, service, reload);
  if (!admin) return cannot_start(admin.error(), watchdog, notifier);
  if (const auto started = service.start(); !started)
    return cannot_start(started.error(), watchdog, notifier);
  if (!stopper.stopping())
    telemetry::info("started", {{"members", config.consumers}, {"group", config.client("group.id")}});
  notifier.enter(Phase::started);
  return end(service.wait(), watchdog, notifier);
}

}  // namespace

void Stop::request() {
  MutexLock lock(mutex_);
  if (act_)
    act_();
  else
    ++waiting_;
}

void Stop::connect(std::function<void()> act) {
  MutexLock lock(mutex_);
  act_ = std::move(act);
  for (; act_ && waiting_ > 0; --waiting_) act_();
}

int serve(const config::Loaded& loaded, const std::string& file, Serving serving) {
  set_up_log(loaded.config->log);
  for (const auto& warning : loaded.warnings) telemetry::warn("configuration", {{"warning", warning}});
  telemetry::info("starting", {{"version", LANEWAY_VERSION}, {"config", file}});
  const auto enough = service::check_limits(*loaded.config, service::named_brokers(*loaded.config));
  const int code =
      enough ? serve_until_stopped(*loaded.config, file, std::move(serving)) : refuse_start(enough.error());
  telemetry::flush_log();
  return code;
}

}  // namespace laneway::app
