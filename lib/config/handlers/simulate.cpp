#include "config/handlers/handler_schema.h"

#include "config/property.h"
#include "config/units.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

const auto parse_sleep = within(parse_duration, Duration::zero(), hours(1));

std::optional<BadValue> set_sleep(SimulateSettings::Sleep& sleep, const Node& node) {
  std::optional<Duration> p50;
  std::optional<Duration> p99;
  if (node.is_scalar()) {
    const auto parsed = parse_sleep(node.text);
    if (!parsed) return BadValue{node, parsed.error().message};
    p50 = *parsed;
  } else if (!node.is_map()) {
    return BadValue{node, ""};
  }
  for (const Entry& entry : node.entries) {
    if (entry.key != "p50" && entry.key != "p99") return BadValue{key_node(entry), "this key does not exist"};
    const auto parsed = parse_sleep(entry.value.text);
    if (!parsed) return BadValue{entry.value, parsed.error().message};
    (entry.key == "p50" ? p50 : p99) = *parsed;
  }
  if (!p50 || (node.is_map() && !p99)) return BadValue{node, "p50 and p99 are both needed"};
  if (p99 && (*p50 <= Duration::zero() || *p99 < *p50))
    return BadValue{node, "p50 must be above 0, and not above p99"};
  sleep = {*p50, p99};
  return std::nullopt;
}

std::string print_sleep(const SimulateSettings::Sleep& sleep) {
  if (!sleep.p99) return print_duration(sleep.p50);
  return "{ p50: " + print_duration(sleep.p50) + ", p99: " + print_duration(*sleep.p99) + " }";
}

Result<std::int32_t> parse_partition(const std::string& number) {
  return parse_number<std::int32_t>(number, 0, 1'000'000);
}

Rows simulate_properties() {
  return rows_of<SimulateSettings>({
      {"handler.simulate.sleep",
       structured("a duration up to 1h, or { p50: 5ms, p99: 100ms } for log-normal ones", set_sleep,
                  print_sleep),
       &SimulateSettings::sleep,
       "How long an attempt sleeps: always the same time, or a random time with the given median and 99th "
       "percentile."},
      {"handler.simulate.spin", duration(Duration::zero(), hours(1)), &SimulateSettings::spin,
       "Processor time that an attempt uses in addition to its sleep."},
      {"handler.simulate.fail", fraction(), &SimulateSettings::fail,
       "Fraction of the attempts that fail with the answer retry."},
      {"handler.simulate.hang", fraction(), &SimulateSettings::hang,
       "Fraction of the attempts that hang until they are stopped."},
      {"handler.simulate.hang_partitions",
       list("a list of partition numbers", parse_partition, AnyValue(),
            [](std::int32_t number) { return std::to_string(number); }),
       &SimulateSettings::hang_partitions, "Partitions whose attempts all hang until they are stopped."},
      {"handler.simulate.results", count(0, 10'000), &SimulateSettings::results,
       "Number of results of a record, for the pool that is next (the key then of a pool): so many sub-jobs "
       "with the record's value. 0 passes on the record itself."},
      {"handler.simulate.timeout", duration(milliseconds(1), hours(1)), &SimulateSettings::timeout,
       "Time limit of one attempt."},
  });
}

}  // namespace

HandlerSchema schema_of(const SimulateSettings&) {
  return {.name = "simulate",
          .properties = simulate_properties,
          .traits = {.occupies = Occupies::thread,
                     .gives_results = true,
                     .does_work = false,
                     .output = nullptr,
                     .program = nullptr},
          .section = {.position = 3,
                      .text = "Behaves like work without doing any: for trying settings.",
                      .example = "handler:\n  simulate: { sleep: { p50: 5ms, p99: 100ms }, fail: 0.01 }\n"}};
}

}  // namespace laneway::config
