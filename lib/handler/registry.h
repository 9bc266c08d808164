// The registry of the handlers: the functions that the rest of the program calls for a configured handler
// (`Config::handler_of`). registry.cpp has one row for each type of settings. It is the only list of handlers
// outside the module config, and does not compile without a row for each type in config::HandlerSettings.
//
// Ownership: the caller owns the handler that is made; the handler must outlive the pools that call it.
// Threads: any. Only the functions that have a timeout parameter block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/library.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "handler/handler.h"
#include "kafka/admin/directory.h"

namespace laneway::handler {

/// The handler of `pool`, which is one of the stages of `config`. Errors have kind configuration, and name
/// the key or the system's reason.
Result<std::unique_ptr<Handler>> make_handler(const config::Config& config, const config::PoolSettings& pool);

/// Checks the settings of all handlers, those of named pools too, without side effects: no handler is made,
/// no code of the user runs, no server is contacted, and a transactional service with the same id continues.
/// The file of a plugin is examined.
Status check_handler(const config::Config& config);

/// Checks that the things that a handler needs are available, for `laneway check --connect`. Returns a
/// sentence for people: "host:port accepts connections", "/usr/bin/python3 starts", "the plugin orders 1.0
/// accepts its configuration"; nullopt for a handler that needs nothing. Blocks up to `timeout`, and as long
/// as a name server takes, or a plugin's init and shutdown. Sends nothing beyond what a connection needs.
/// Errors: unavailable; configuration for an invalid address, and for a plugin that cannot be loaded or does
/// not start.
Result<std::optional<std::string>> reach(const config::HandlerSettings& settings, Duration timeout);

/// The topics that the handlers write to, those of named pools too, each once; empty if none writes to a
/// topic. `inputs`: the input topics, as found by `directory` in the input's cluster. Blocks up to `timeout`.
/// Errors: unavailable as in Directory; configuration if a topic would be both read and written, or has too
/// few partitions to keep the partition numbers.
Result<std::vector<kafka::TopicInfo>> find_output_topics(const config::Config& config,
                                                         const std::vector<kafka::TopicInfo>& inputs,
                                                         kafka::Directory& directory, Duration timeout);

/// Requests to a server.
struct Requests {
  std::uint32_t at_once;  ///< at most
  std::uint32_t batch;    ///< maximum records of one request; 0: no batches, each request has one record
};

/// The resources of the process that a handler needs.
struct Resources {
  bool workers;  ///< the lanes have worker threads for the handler; otherwise it is asynchronous (handler.h)
  std::uint32_t threads = 0;  ///< the handler's own threads, without those of a Kafka client
  bool produces = false;      ///< the handler writes to Kafka with its own client
  std::optional<Requests> requests = std::nullopt;  ///< nullopt if the handler makes no requests
  /// Files, sockets and pipes, without those of a Kafka client.
  std::uint32_t descriptors_always = 0;
  std::uint32_t descriptors_per_call = 0;

  /// The number of descriptors that are needed when `at_work` records are running.
  std::uint64_t descriptors(std::uint64_t at_work) const {
    const auto calls = requests ? std::min<std::uint64_t>(requests->at_once, at_work) : at_work;
    return descriptors_always + descriptors_per_call * calls;
  }
};
Resources resources_of(const config::HandlerSettings& settings);

/// The outside libraries that the handlers use, each once.
std::vector<Library> libraries();

}  // namespace laneway::handler
