#include "lane/source/source_errors.h"

#include <utility>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration report_interval = seconds(30);

}  // namespace

void SourceErrors::fail(std::string why, std::int64_t offset, TimePoint now) {
  if (why_.empty()) since_ = now;
  why_ = std::move(why);
  next_report_ = now + report_interval;
  telemetry::log_repeating(telemetry::Level::warn, "partition error " + id_.partition.topic + ": " + why_,
                           "partition error",
                           {{"topic", id_.partition.topic},
                            {"partition", id_.partition.partition},
                            {"offset", offset},
                            {"error", why_}});
}

bool SourceErrors::repeat_due(TimePoint now) {
  if (why_.empty() || now < next_report_) return false;
  next_report_ = now + report_interval;
  return true;
}

}  // namespace laneway::lane
