// What brokers and the handler's server answer to `laneway check --connect`: nothing is consumed, committed
// or sent.
//
// What is found is written to `out`, a line each. Blocks: each question up to start_deadline.
#pragma once

#include <ostream>

#include "app/forecast.h"
#include "base/result.h"
#include "config/config.h"

namespace laneway::app {

/// The subscribed topics' partitions and the group's commits, and whether both may be read (that the group
/// may be joined shows only at a join). Errors: unavailable, configuration. Where a pattern matches nothing
/// yet, the partitions remain assumed.
Result<Cluster> ask_brokers(const config::Config& config, std::ostream& out);
/// A connection to the handler's server, or its plugin loaded and started. Errors: unavailable,
/// configuration.
Status ask_handler(const config::Config& config, std::ostream& out);

}  // namespace laneway::app
