// Verbs that change or describe topics and groups, through the admin requests of the client library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kafka_tool {

/// Returns when every partition has a leader. `settings`: KEY=VALUE of the topic.
void create_topic(const std::string& bootstrap, const std::string& topic, std::int32_t partitions,
                  const std::vector<std::string>& settings);
/// Gives the topic these settings and no others.
void configure_topic(const std::string& bootstrap, const std::string& topic,
                     const std::vector<std::string>& settings);
/// Returns when brokers no longer know the topic: until then they take records for it.
void delete_topic(const std::string& bootstrap, const std::string& topic);
/// `total`: partitions afterwards.
void add_partitions(const std::string& bootstrap, const std::string& topic, std::int32_t total);
/// Deletes the records below `offset`, as retention would.
void delete_records(const std::string& bootstrap, const std::string& topic, std::int32_t partition,
                    std::int64_t offset);
/// Prints one line a partition: low and end offset.
void print_watermarks(const std::string& bootstrap, const std::string& topic);
/// Prints one line a partition: the group's committed offset (null: none) and its metadata.
void print_committed(const std::string& bootstrap, const std::string& group,
                     const std::vector<std::string>& topics);
/// Prints one line: state of the group, and of each member its id, client and partitions.
void print_members(const std::string& bootstrap, const std::string& group);

}  // namespace kafka_tool
