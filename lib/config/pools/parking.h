// Parking: whether records of a pool or subscriber that is out, or cannot keep up, leave their lane for a
// retry topic, so that they do not stop the others of the partition (lane/stage/parking.h). Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace laneway::config {

/// Whether records of a lane can wait while others of it go on: because of subscribers, or of pools none of
/// which leads to the other.
bool has_neighbours(const Config& config);
/// Whether records can wait for this pool, or for a subscriber of it, while others of their lane go on.
bool has_neighbours(const Config& config, const PoolSettings& pool);

/// Why no record is parked, as the end of a sentence; empty if records are parked.
std::string not_parked_because(const Config& config);
inline bool parks(const Config& config) { return not_parked_because(config).empty(); }

/// The delays of the retry topics: those of retry.topics or, if only parked records use such topics, 10s, 1m
/// and 10m. Empty if there are no retry topics.
std::vector<RetryDelay> retry_delays(const Config& config);
/// The retry topics of all topics that are listed by name.
std::vector<std::string> retry_topics(const Config& config);
/// The names of the retry topics in which records would be parked without retry.topics, and which the service
/// does not read. Empty if `topics` is a pattern.
std::vector<std::string> unread_topics_of_parked(const Config& config);

}  // namespace laneway::config
