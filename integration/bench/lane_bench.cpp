// A laneway service in this process, measured from outside: one case a run, one JSON line.
//
//   noop, key, partition: a handler that does nothing, without order, by key or by partition, until
//   `--records` are done (`--metrics`: where they can be asked for meanwhile). claims: the same as noop, with
//   records counted.
//   sleep: a handler that takes 10 ms; what is done in `--seconds`. shared: records of few keys by `--order`,
//   which go to the web service `--url`, the program `--child`, the plugin `--library`, or take 10 ms here.
//   stuck: the same with partition 3 hanging (`--healthy`: without); what the other partitions do in
//   `--seconds`. bulkheads: two pools in each lane, of which one hangs (`--healthy`: does nothing); what the
//   other one does in `--seconds`. overload: the same as sleep on 5 workers a lane, 8,000 records/s on 16
//   partitions, while more is produced; what is done in `--seconds`, then on until `--records` are done;
//   memory is sampled. idle: every partition of a topic without records; processor time and memory over
//   `--seconds`. produce: each record is written to the topic `--to`, at least once or `--transactional`,
//   until
//   `--records`. http: each record is posted to `--url`, `--workers` requests a partition at a time
//   (`--batch`: so many records a request); what is done in `--seconds`. exec: each record is given to the
//   program `--child`, `--workers` children a partition; what is done in `--seconds`.
//   waiting: the first `--waiting` records fail and wait for an hour, the others do nothing; from a quarter
//   of `--records` until all but those are done, then what is allocated.
//
// Measuring starts with the first records done, so joining the group is not part of it. The service has its
// production defaults, commits included; its counters are read every few milliseconds and nothing is added to
// the way of a record.
#include <gperftools/malloc_extension_c.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "admin/server/server.h"
#include "handler/handler.h"
#include "lane_cases.h"
#include "measuring.h"
#include "process.h"
#include "service/service.h"
#include "telemetry/log.h"

namespace {

using namespace laneway;
using namespace bench;

constexpr std::int32_t stuck_partition = 3;

/// Does nothing, and counts how many records come together.
class CountsClaims final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override {
    claims_.fetch_add(1, std::memory_order_relaxed);
    records_.fetch_add(task.size(), std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < task.size(); ++i) {
      static_cast<void>(task.attempt(i));
      task.answer(i, handler::Outcome::done());
    }
  }
  std::string name() const override { return "counts claims"; }
  double records_a_claim() const {
    return static_cast<double>(records_.load()) / static_cast<double>(claims_.load());
  }

 private:
  std::atomic<std::uint64_t> claims_{0};
  std::atomic<std::uint64_t> records_{0};
};

/// The first records of each partition fail once, the others do nothing.
class FailsFirst final : public handler::RecordHandler {
 public:
  explicit FailsFirst(std::int64_t failing) : failing_(failing) {}
  std::string name() const override { return "fails first"; }

 protected:
  handler::Outcome handle_record(const handler::Attempt& attempt) override {
    if (attempt.record.offset() >= failing_) return handler::Outcome::done();
    return handler::Outcome::retry("HTTP 500 Internal Server Error: no such article");
  }

 private:
  const std::int64_t failing_;
};

/// What the program has allocated and not given back, in the allocator's sizes of blocks.
double allocated_bytes() {
  std::size_t bytes = 0;
  if (MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes) == 0)
    throw std::runtime_error("the allocator does not say what is allocated");
  return static_cast<double>(bytes);
}

/// A connection is an open file, and the usual limit is 1,024.
void raise_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Json until_done(service::Service& service, const Options& options) {
  const Moment begin = first_done(service);
  return between(begin,
                 wait_for(service, {}, [&](const Moment& now) { return now.done >= options.records; }));
}

Json for_seconds(service::Service& service, const Options& options, const Counted& counted = {}) {
  const Moment begin = first_done(service, counted);
  const TimePoint end = begin.at + duration_cast<Duration>(std::chrono::duration<double>(options.seconds));
  return between(begin, wait_for(service, counted, [&](const Moment& now) { return now.at >= end; }));
}

/// What is done while the overload lasts (`seconds`), then the rest. The buffers have filled after two thirds
/// of that time; from then on memory must stay where it is, though the backlog goes on growing.
Json overload(service::Service& service, const Options& options) {
  const Moment begin = first_done(service);
  const auto limit = duration_cast<Duration>(std::chrono::duration<double>(options.seconds));
  const auto at_least = [&](Duration time) {
    return wait_for(service, {}, [&](const Moment& now) { return now.at >= begin.at + time; });
  };
  at_least(limit * 2 / 3);
  const double early = bench::peak_resident_mib();
  Json result = between(begin, at_least(limit));
  result["early_peak_mib"] = early;
  const Moment end = wait_for(service, {}, [&](const Moment& now) { return now.done >= options.records; });
  result["whole_peak_mib"] = bench::peak_resident_mib();
  result["done"] = end.done;
  result["fetched_bytes"] = sum_of(service, "fetched_bytes_total");
  result["processed_bytes"] = sum_of(service, "processed_bytes_total");
  result["received_bytes"] = bench::received_bytes();
  return result;
}

Json idle(service::Service& service, const Options& options) {
  const TimePoint give_up = SteadyClock::now() + patience;
  while (service.snapshot().size() < options.partitions) {
    if (SteadyClock::now() > give_up)
      throw std::runtime_error("only " + std::to_string(service.snapshot().size()) +
                               " partitions were assigned");
    std::this_thread::sleep_for(milliseconds(50));
  }
  std::this_thread::sleep_for(seconds(5));  // the first offsets and fetches are not idling
  const double cpu = bench::cpu_seconds();
  const TimePoint begin = SteadyClock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  const double wall = to_seconds(SteadyClock::now() - begin);
  return {{"partitions", service.snapshot().size()},
          {"seconds", wall},
          {"cpu_percent", 100 * (bench::cpu_seconds() - cpu) / wall},
          {"resident_mib", bench::resident_mib()},
          {"peak_mib", bench::peak_resident_mib()}};
}

/// From a quarter of the records on, when those that wait do so.
Json beside_waiting(service::Service& service, const Options& options) {
  const Moment begin =
      wait_for(service, {}, [&](const Moment& now) { return now.done >= options.records / 4; });
  const auto waiting = static_cast<std::uint64_t>(sum_of(service, "retries_scheduled"));
  if (waiting != options.waiting)
    throw std::runtime_error(std::to_string(waiting) + " records wait, not " +
                             std::to_string(options.waiting));
  const auto rest = options.records - options.waiting;
  Json result = between(begin, wait_for(service, {}, [&](const Moment& now) { return now.done >= rest; }));
  std::this_thread::sleep_for(seconds(3));  // the last commits, and the fetch buffers go
  result["allocated"] = allocated_bytes();
  return result;
}

/// What is done in `--seconds`, and what of the machine that takes.
Json beside_others(service::Service& service, const Options& options) {
  const double busy = bench::machine_busy_seconds();
  const auto begin = SteadyClock::now();
  Json result = for_seconds(service, options);
  result["busy_cores"] = (bench::machine_busy_seconds() - busy) / to_seconds(SteadyClock::now() - begin);
  result["threads"] = bench::threads();
  return result;
}

/// The service's metrics on `address`.
std::unique_ptr<admin::Server> metrics_server(const service::Service& service, const std::string& address) {
  admin::AdminSources sources;
  sources.metrics = [&service] {
    return telemetry::render_metrics({[&service] { return service.families(); }});
  };
  auto started = admin::Server::start(address, std::move(sources));
  if (!started) throw std::runtime_error(started.error().text());
  return std::move(started).value();
}

/// Runs a service around `measure`. `cut_short`: something hangs that a drain would wait for.
template <class Measure>
void run(config::Config config, Measure measure, bool cut_short = false,
         std::unique_ptr<handler::Handler> handler = nullptr) {
  service::Service service(std::move(config), std::move(handler));
  if (const auto started = service.start(); !started) throw std::runtime_error(started.error().text());
  Json result = measure(service);
  service.stop();
  if (cut_short) service.stop();
  const auto ended = service.wait();
  result["abandoned"] = ended.abandoned;
  if (ended.error) throw std::runtime_error(ended.error->text());
  std::cout << result << std::endl;
  if (ended.stuck) std::_Exit(0);
}

void add_verbs(CLI::App& app, const Options& options) {
  const auto verb = [&](const char* name, const char* help, auto action) {
    app.add_subcommand(name, help)->callback(action);
  };
  const auto counted = [&options](config::Order order) {
    auto config = configuration(options, Duration::zero());
    config.lanes.order = order;
    run(config, [&](auto& service) {
      std::unique_ptr<admin::Server> server;
      if (!options.metrics.empty()) server = metrics_server(service, options.metrics);
      return until_done(service, options);
    });
  };
  verb("noop", "a handler that does nothing", [=] { counted(config::Order::none); });
  verb("claims", "how many records a claim has, when the handler does nothing", [&options] {
    auto config = configuration(options, Duration::zero());
    config.lanes.order = config::Order::none;
    auto handler = std::make_unique<CountsClaims>();
    const CountsClaims& counts = *handler;
    const auto measure = [&](auto& service) {
      Json result = until_done(service, options);
      result["records_a_claim"] = counts.records_a_claim();
      return result;
    };
    run(config, measure, false, std::move(handler));
  });
  verb("key", "the same, in the order of keys", [=] { counted(config::Order::key); });
  verb("partition", "the same, in the order of partitions", [=] { counted(config::Order::partition); });
  verb("sleep", "a handler that takes 10 ms", [&options] {
    auto config = configuration(options, milliseconds(10));
    config.lanes.order = config::Order::none;
    run(config, [&](auto& service) { return for_seconds(service, options); });
  });
  verb("shared", "records of few keys, by --order",
       [&options] { run(sharing(options), [&](auto& service) { return for_seconds(service, options); }); });
  verb("stuck", "the same with a partition that hangs", [&options] {
    auto config = configuration(options, milliseconds(10));
    if (!options.healthy)
      std::get<config::SimulateSettings>(config.handler).hang_partitions = {stuck_partition};
    const auto measure = [&](auto& service) {
      return for_seconds(service, options, {.except = stuck_partition});
    };
    run(config, measure, !options.healthy);
  });
  verb("bulkheads", "two pools in each lane, of which one hangs", [&options] {
    const auto measure = [&](auto& service) { return for_seconds(service, options, {.pool = counted_pool}); };
    run(with_bulkheads(options), measure, !options.healthy);
  });
  verb("overload", "more produced than can be done", [&options] {
    auto config = configuration(options, milliseconds(10));
    config.unnamed.workers = 5;
    run(config, [&](auto& service) { return overload(service, options); });
  });
  verb("plugin", "a plugin that does nothing",
       [&options] { run(loading(options), [&](auto& service) { return until_done(service, options); }); });
  verb("produce", "each record is written to another topic",
       [&options] { run(writing(options), [&](auto& service) { return until_done(service, options); }); });
  verb("http", "each record is posted", [&options] {
    raise_open_files();
    run(posting(options), [&](auto& service) { return beside_others(service, options); });
  });
  verb("exec", "each record is given to a program",
       [&options] { run(piping(options), [&](auto& service) { return beside_others(service, options); }); });
  verb("waiting", "nothing, while records wait for their next attempt", [&options] {
    const auto failing = static_cast<std::int64_t>(options.waiting / options.partitions);
    run(
        with_room_for(options), [&](auto& service) { return beside_waiting(service, options); }, false,
        std::make_unique<FailsFirst>(failing));
  });
  verb("idle", "many partitions without records", [&options] {
    run(configuration(options, Duration::zero()), [&](auto& service) { return idle(service, options); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // 10 ms of work are to be 10 ms, not up to 50 us more
  telemetry::set_up_log(telemetry::Level::warn, telemetry::Format::text);
  CLI::App app("A laneway service, measured");
  app.require_subcommand(1);
  Options options;
  app.add_option("--bootstrap", options.bootstrap, "host:port,…")->required();
  app.add_option("--topic", options.topic)->required();
  app.add_option("--group", options.group, "a new one")->required();
  app.add_option("--records", options.records,
                 "noop, key, partition, plugin, produce, overload, waiting: until so many are done");
  app.add_option("--seconds", options.seconds, "the others, and how long the overload lasts");
  app.add_option("--partitions", options.partitions, "idle, waiting: of the topic");
  app.add_option("--library", options.plugin, "plugin, shared: its file");
  app.add_option("--order", options.order, "shared: by key, or none")->check(CLI::IsMember({"key", "none"}));
  app.add_option("--to", options.to, "produce: a topic");
  app.add_flag("--transactional", options.transactional, "produce: exactly once");
  app.add_option("--url", options.url, "http, shared: where to");
  app.add_option("--batch", options.batch, "http: records of a request");
  app.add_option("--workers", options.workers, "http, exec, shared: of each partition");
  app.add_option("--child", options.child, "exec, shared: program and arguments")->delimiter(' ');
  app.add_option("--waiting", options.waiting, "waiting: so many, divisible by the partitions");
  app.add_option("--metrics", options.metrics, "noop, key, partition: host:port where the metrics are");
  app.add_flag("--healthy", options.healthy, "stuck, bulkheads: nothing hangs");
  add_verbs(app, options);
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "lane_bench: " << failure.what() << '\n';
    return 69;
  }
}
