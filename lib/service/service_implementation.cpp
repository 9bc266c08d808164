#include "service/service_implementation.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "config/pools/parking.h"
#include "config/rules/consumed_topics.h"
#include "handler/forward/forward_handler.h"
#include "handler/registry.h"
#include "kafka/access/key_files.h"
#include "kafka/client/client_support.h"
#include "service/process/process_limits.h"
#include "service/status/families.h"
#include "service/topics/forward_topics.h"
#include "service/topics/subscription.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

constexpr Duration exit_slack = milliseconds(3500);     // of the 5 s after the drain
constexpr Duration retry_interval = milliseconds(300);  // while the start waits for brokers and topics
constexpr Duration one_question = seconds(1);           // to the brokers, while the start waits
constexpr Duration live_limit = seconds(10);

bool all_ended(const Loops& loops) {
  return std::all_of(loops.begin(), loops.end(), [](const auto& loop) { return loop->ended(); });
}

}  // namespace

Status Service::Implementation::prepare() {
  if (!config.journal.file.empty()) {
    auto opened = lane::Journal::open(config.journal.file);
    if (!opened) return opened.error();
    MutexLock lock(mutex);
    journal = std::move(opened).value();
  }
  auto shared = SharedStages::make(config, handler.get());
  if (!shared) return shared.error();
  stages = std::move(shared).value();
  if (!config.trace.otlp.empty()) {
    auto made = tracing::Tracer::make(config);
    if (!made) return made.error();
    tracer = std::move(made).value();
  }
  auto warnings = kafka::version_warnings(config.kafka);
  if (!warnings) return warnings.error();
  for (const auto& warning : *warnings) telemetry::warn("client version", {{"error", warning}});
  // Warnings only: the brokers decide, by their own clocks.
  const auto files = kafka::check_key_files(config, std::chrono::system_clock::now());
  for (const auto& error : files.errors) telemetry::warn("certificates and keys", {{"error", error.text()}});
  for (const auto& warning : files.warnings) telemetry::warn("certificates and keys", {{"error", warning}});
  return {};
}

/// The consumed topics and their retry topics, once all of these, the dead-letter topics and the topics that
/// the handler writes to exist.
Result<std::vector<kafka::TopicInfo>> Service::Implementation::find_topics(kafka::Directory& directory,
                                                                           Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  auto consumed = directory.consumed(consumed_topics, timeout);
  if (!consumed) return consumed.error();
  auto& topics = consumed->topics;
  if (const auto outputs = handler::find_output_topics(config, topics, directory, timeout); !outputs)
    return outputs.error();
  auto found = find_forward_topics(forwarding, topics, directory, deadline.left(), !loops().empty());
  if (!found) return found.error();
  forward_partitions = std::move(found).value();
  for (auto& name : config::retry_topics(forwarding)) topics.push_back({name, forward_partitions[name]});
  subscription = subscription_to(config, topics);
  report_left_out(consumed->left_out);
  return std::move(topics);
}

/// The consumed topics, once the user may read all that are named. A pattern may match topics that the user
/// may not read; their lanes report that. The lanes of new members report it too: a service that has consumed
/// could read, and a silent partition must not keep the others waiting.
Result<std::vector<kafka::TopicInfo>> Service::Implementation::find_readable_topics(
    kafka::Directory& directory, Deadline deadline) {
  auto topics = find_topics(directory, std::min(deadline.left(), one_question));
  if (!topics || config.topics_by_pattern() || !loops().empty()) return topics;
  const auto patience = std::min<Duration>(deadline.left() / 2, kafka::Directory::longest_refusal);
  const auto stopping = [this] { return stops.load() > 0; };
  if (auto status = directory.readable(*topics, patience, stopping); !status) return status.error();
  return topics;
}

/// The plan needs the number of partitions, and a service without its topics would only look alive.
Result<lane::MemoryPlan> Service::Implementation::wait_for_topics() {
  auto client = config.kafka;
  client.erase("group.instance.id");
  auto directory = kafka::Directory::open(client);
  if (!directory) return directory.error();
  const auto deadline = Deadline::in(settings()->start_deadline);
  auto next_report = SteadyClock::now();
  std::optional<Error> answered;  // the last answer that was no time-out
  for (;;) {
    auto topics = find_readable_topics(**directory, deadline);
    if (topics) {
      std::uint64_t partitions = 0;
      brokers.store((*directory)->brokers());
      cluster = (*directory)->cluster(std::min(deadline.left(), one_question));
      for (const auto& topic : *topics) partitions += static_cast<std::uint64_t>(topic.partitions);
      for (const auto& warning : limit_warnings(config, partitions, brokers.load(), allowed()))
        telemetry::warn("a limit of the process is low", {{"error", warning}});
      for (const auto& warning : unread_retry_topics(forwarding, **directory, one_question))
        telemetry::warn("retry topic is not read", {{"error", warning}});
      return lane::plan_memory(config.lanes.memory, partitions, (*directory)->brokers(), config.consumers);
    }
    if (!kafka::is_timeout(topics.error())) answered = topics.error();
    // A refusal that lasts: nobody has named these topics, so the service works without them.
    if (loops().empty() && deadline.left() < settings()->start_deadline / 2 &&
        park_nothing(forwarding, topics.error()))
      continue;
    // It is too late to ask again: this answer is better than that of a question without time.
    if (stops.load() > 0 || deadline.left() < retry_interval + milliseconds(100) ||
        topics.error().kind == ErrorKind::configuration)
      return answered.value_or(topics.error());
    waits("waiting for brokers and topics: " + topics.error().text());
    if (SteadyClock::now() >= next_report) {
      next_report = SteadyClock::now() + seconds(5);
      telemetry::warn("waiting for brokers and topics",
                      {{"left_ms", deadline.left()}, {"error", topics.error().text()}});
    }
    changed.wait_until(std::min(deadline.at, SteadyClock::now() + retry_interval));
  }
}

Status Service::Implementation::make_context(const lane::MemoryPlan& plan) {
  if (config.dead_letter.enabled() || config::parks(forwarding)) {
    auto made = handler::ForwardHandler::make(config, forward_partitions);
    if (!made) return made.error();
    forward = std::move(made).value();
  }
  retry_steps = service::retry_steps(forwarding);
  context = {config.lanes,
             config.retry,
             config.ledger,
             plan,
             config.dead_letter.enabled() ? forward.get() : nullptr,
             &retry_steps,
             &stages.process_rate(),
             opened_journal(),
             &careful_turn,
             &suspensions,
             tracer.get(),
             cluster,
             process,
             &silences,
             silence_unit(config.kafka),
             &totals};
  context.parking = config::parks(forwarding) ? forward.get() : nullptr;
  stages.add_to(context, config);
  return {};
}

Status Service::Implementation::start_members() {
  const auto still_draining = std::make_shared<lane::StillDraining>();
  for (std::size_t i = 0; i < config.consumers; ++i) {
    auto client = config.kafka;
    if (const auto id = client.find("group.instance.id"); id != client.end() && config.consumers > 1)
      id->second.value += "-" + std::to_string(i + 1);  // each static member needs a name of its own
    auto loop = std::make_shared<lane::ConsumerLoop>(
        context, lane::LoopSettings{std::move(client), subscription, settings()->commit, still_draining},
        [this] { changed.notify(); });
    if (auto status = loop->start(); !status) return status;
    MutexLock lock(mutex);
    members.push_back(std::move(loop));
  }
  waits({});
  // A stop that came meanwhile may have missed the new members.
  if (stops.load() > 0)
    for (const auto& loop : loops()) loop->stop();
  return {};
}

RunningParts Service::Implementation::parts() {
  MutexLock lock(mutex);
  RunningParts parts{members, in_force, waits_for, &stops, totals.dead_letters.get(), totals.abandoned.get()};
  if (waits_for.empty()) parts.stages = &stages;
  return parts;
}

void Service::Implementation::report_standstill(Duration length) {
  telemetry::warn("the process stood still",
                  {{"ms", length}, {"hint", "SIGSTOP, a suspended machine, or no processor time"}});
}

/// Why new members must take over; null if they need not.
const char* Service::Implementation::why_renew() {
  std::uint64_t lanes = 0;
  for (const auto& loop : loops()) {
    lanes += loop->lanes().size();
    if (loop->stats().must_be_renewed.get()) return "to take part in rebalances again";
    if (loop->stats().partition_silent.get()) return "to read a silent partition";
  }
  if (coordinator.renewal_due(config, loops(), context.silence_unit, stops))
    return "to find the coordinator of the group";
  // Partitions were added, or topics that match the pattern: more lanes than shares of the budget.
  return lanes > context.memory.partitions ? "to divide lanes.memory among more partitions" : nullptr;
}

/// The client's buffers are fixed when it is made, and a client that a rebalance has overtaken stays so: new
/// members take over with a new plan, as in a restart.
Status Service::Implementation::renew_members(const char* why) {
  if (const auto& failure = coordinator.failure()) return *failure;
  const auto what = std::string("starting over ") + why;
  telemetry::warn(what, {{"planned_partitions", context.memory.partitions}});
  const auto old = loops();
  for (const auto& loop : old) loop->stop();
  const auto deadline = Deadline::in(settings()->lanes.drain + exit_slack);
  while (!all_ended(old) && !deadline.passed() && !late())
    changed.wait_until(SteadyClock::now() + milliseconds(200));
  if (!retired.take(old))
    return Error{ErrorKind::fatal, "the Kafka client hangs: the service cannot start over", ""};
  waits(what);
  auto plan = wait_for_topics();
  {
    MutexLock lock(mutex);
    members.clear();
  }
  if (stops.load() > 0) return {};
  if (!plan) return plan.error();
  context.memory = *plan;
  context.cluster = cluster;
  return start_members();
}

/// Whether a stop has taken longer than it may.
bool Service::Implementation::late() const {
  return stops.load() > 0 && SteadyClock::now().time_since_epoch().count() > stop_deadline.load();
}

/// Waits until the members end, or a stop has taken too long: null. Or until they must be renewed: why.
const char* Service::Implementation::watch() {
  const auto current = loops();
  while (!all_ended(current) && !late()) {
    changed.wait_until(SteadyClock::now() + milliseconds(200));
    (void)retired.all_freed();
    if (stops.load() > 0) continue;
    observer.observe(parts());
    // A member that cannot go on stops the others in order, so that the process can be restarted.
    if (stages.fatal() ||
        std::any_of(current.begin(), current.end(), [](const auto& l) { return l->ended() || l->fatal(); }))
      stop();
    else if (const auto* why = why_renew(); why != nullptr)
      return why;
  }
  return nullptr;
}

void Service::Implementation::stop() {
  const bool first = stops.fetch_add(1) == 0;
  const auto drain = first ? settings()->lanes.drain : Duration::zero();
  stop_deadline.store((SteadyClock::now() + drain + exit_slack).time_since_epoch().count());
  for (const auto& loop : loops()) first ? loop->stop() : loop->cut_short();
  changed.notify();
}

Service::Service(config::Config config, std::unique_ptr<handler::Handler> handler, Duration advice_after)
    : implementation_(std::make_unique<Implementation>(std::move(config), std::move(handler), advice_after)) {
}

Service::~Service() {
  if (!all_ended(implementation_->loops())) {
    stop();
    stop();
    (void)wait();
  }
}

Status Service::start() {
  auto& self = *implementation_;
  if (auto status = self.prepare(); !status) return status;
  auto plan = self.wait_for_topics();
  if (self.stops.load() > 0) return {};
  if (!plan) return plan.error();
  if (auto status = check_limits(self.config, self.brokers.load()); !status) return status;
  if (auto status = self.make_context(*plan); !status) return status;
  if (auto status = self.start_members(); !status) return status;
  telemetry::info("consuming",
                  {{"members", self.config.consumers}, {"handler", self.stages.handler(0).name()}});
  return {};
}

void Service::stop() { implementation_->stop(); }

std::shared_ptr<const config::Config> Service::settings() const { return implementation_->settings(); }

/// Allowed only between the start and the end, while everything that is changed here exists.
Status Service::change(const config::Config& wanted) {
  auto& self = *implementation_;
  MutexLock lock(self.mutex);
  if (!self.waits_for.empty() || self.stops.load() > 0)
    return Error{
        ErrorKind::unavailable,
        "the service " + (self.stops.load() > 0 ? "is stopping" : "has not started: " + self.waits_for),
        "try again when the service consumes"};
  self.in_force = std::make_shared<config::Config>(wanted);
  self.stages.change(wanted, SteadyClock::now());
  self.context.stages = self.stages.for_lanes(wanted);
  self.context.lanes = wanted.lanes;  // for members that are created later
  self.context.retry = wanted.retry;
  self.context.ledger = wanted.ledger;
  for (const auto& loop : self.members) loop->follow(self.in_force);
  self.observer.reloaded();
  return {};
}

Ended Service::wait() {
  auto& self = *implementation_;
  Ended ended;
  while (const auto* why = self.watch()) {
    if (auto status = self.renew_members(why); !status) {
      ended.error = status.error();
      self.stop();
    }
  }
  if (!ended.error) ended.error = self.stages.fatal();
  ended.abandoned = self.retired.abandoned();
  for (const auto& loop : self.loops()) {
    ended.stuck = !loop->join(Deadline::in(milliseconds(100))) || ended.stuck;
    ended.abandoned += loop->abandoned();
    ended.uncommitted += loop->uncommitted();
    if (const auto fatal = loop->fatal(); fatal && !ended.error) ended.error = fatal;
  }
  ended.stuck = !self.retired.all_freed() || ended.stuck;
  return ended;
}

std::vector<telemetry::Family> Service::families() const {
  auto& self = *implementation_;
  const auto parts = self.parts();
  Counting counting{.silences = self.silences,
                    .spans = self.spans(),
                    .brokers = self.brokers.load(),
                    .journal = self.opened_journal()};
  if (parts.stages != nullptr) counting.handlers.push_back(self.forward.get());
  for (std::size_t i = 0; parts.stages != nullptr && i < parts.stages->size(); ++i)
    counting.handlers.push_back(&parts.stages->handler(i));
  auto families = families_of(parts, self.observer, counting);
  self.series_cap.apply(families);
  return families;
}

Status Service::reopen_journal() {
  auto* const opened = implementation_->opened_journal();
  return opened == nullptr ? Status() : opened->reopen();
}

std::vector<LaneView> Service::snapshot() const { return views_of(implementation_->loops()); }

Readiness Service::readiness() const {
  const auto parts = implementation_->parts();
  return implementation_->observer.readiness(parts, views_of(parts.loops));
}

ServiceStatus Service::status() const { return implementation_->observer.status(implementation_->parts()); }

TimelineNews Service::timeline(std::uint64_t last) const { return implementation_->observer.timeline(last); }

ControlAnswer Service::control(const ControlRequest& request) {
  auto& self = *implementation_;
  return self.observer.control(self.parts(), self.suspensions, request);
}

Liveness Service::live() const {
  const auto now = SteadyClock::now().time_since_epoch().count();
  const auto loops = implementation_->loops();
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!loops[i]->ended() && now - loops[i]->stats().last_turn_ns.get() > Duration(live_limit).count())
      return {false, "member " + std::to_string(i + 1) + ": its loop has not turned for more than 10 s"};
  return {};
}

}  // namespace laneway::service
