#include "lane/member/member_health.h"

#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

Error cannot_go_on(const std::string& why) {
  return {ErrorKind::fatal, "the Kafka client cannot continue: " + why, ""};
}

}  // namespace

void MemberHealth::fail(Error why) {
  failed_ = true;
  {
    MutexLock lock(mutex_);
    if (!fatal_) fatal_ = std::move(why);
  }
  if (!mailbox_.stop_asked()) mailbox_.stop();
}

void MemberHealth::client_broken(const std::string& why) { fail(cannot_go_on(why)); }

void MemberHealth::on_client_error(const kafka::ClientError& error, const kafka::Consumer& consumer) {
  telemetry::log_repeating(error.fatal ? telemetry::Level::error : telemetry::Level::warn,
                           "client error: " + error.text, "client error", {{"error", error.text}});
  if (error.connection) {
    MutexLock lock(mutex_);
    broker_error_ = error.text;
  }
  if (error.fatal) fail(consumer.fatal_error().value_or(cannot_go_on(error.text)));
  if (error.group_denied && stats_.assigned.get() == 0) fail({ErrorKind::unavailable, error.text, ""});
}

void MemberHealth::on_statistics(const kafka::Statistics& statistics, TimePoint now) {
  const bool was_out = stats_.no_broker_since_ns.get() != 0;
  stamp(stats_.no_broker_since_ns, !statistics.connected, now);
  stamp(stats_.no_coordinator_since_ns, statistics.connected && !statistics.coordinator, now);
  if (statistics.throttled > Duration::zero()) {
    stats_.throttled_ms.add(
        static_cast<std::uint64_t>(duration_cast<milliseconds>(statistics.throttled).count()));
    stats_.throttled_at_ns.set(now.time_since_epoch().count());
  }
  if (!statistics.connected) return;
  MutexLock lock(mutex_);
  if (was_out && !broker_error_.empty()) telemetry::info("the brokers answer again");
  broker_error_.clear();
}

void MemberHealth::on_silence(const LaneSilence::Demand& demand) {
  if (demand.step == SilenceStep::rejoin) stats_.partition_silent.set(true);
  if (demand.step != SilenceStep::restart || mailbox_.stop_asked()) return;
  ends_by_silence_ = true;
  fail({ErrorKind::fatal, demand.why,
        "start the service again; if that does not help, see LanewayPartitionSilent in the runbooks"});
}

std::optional<Error> MemberHealth::fatal() const {
  MutexLock lock(mutex_);
  return fatal_;
}

std::string MemberHealth::broker_error() const {
  MutexLock lock(mutex_);
  return broker_error_;
}

}  // namespace laneway::lane
