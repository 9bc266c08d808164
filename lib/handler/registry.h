// The registry of the handlers: what the rest of the program asks of a configured handler (`config.handler`).
// registry.cpp has one row for each type of settings; it is the only list of handlers outside the module
// config, and does not compile without a row for each type in config::HandlerSettings.
//
// Ownership: the caller owns the handler that it makes; the handler must outlive the pools that call it.
// Threads: any. Only the functions that take a timeout block.
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

/// Errors have kind configuration and name the key, or say what the system refuses.
Result<std::unique_ptr<Handler>> make_handler(const config::Config& config);

/// What can be said of the settings without effects: no handler is made, no code of the user runs, nobody is
/// contacted, and a transactional service under the same id goes on. Of a plugin its file is looked at.
Status check_handler(const config::Config& config);

/// Whether what a handler needs is there, for `laneway check --connect`, as a sentence for people:
/// "host:port accepts connections", "/usr/bin/python3 starts", "the plugin orders 1.0 takes its
/// configuration"; nothing for a handler that needs nothing. Blocks up to `timeout` and as long as a name
/// server takes, or as a plugin's init and shutdown. Nothing is sent beyond what a connection needs. Errors:
/// unavailable; configuration for an address that is none, and a plugin that cannot be loaded or does not
/// start.
Result<std::optional<std::string>> reach(const config::HandlerSettings& settings, Duration timeout);

/// The topics that the handler writes to, each once; none for a handler that writes to none. `inputs`: what
/// is read, as `directory` of the input's cluster has found it. Blocks up to `timeout`. Errors: unavailable
/// as Directory says; configuration where a topic would be read and written, or has too few partitions to
/// keep the numbers.
Result<std::vector<kafka::TopicInfo>> find_output_topics(const config::Config& config,
                                                         const std::vector<kafka::TopicInfo>& inputs,
                                                         kafka::Directory& directory, Duration timeout);

/// Requests to a server.
struct Requests {
  std::uint32_t at_once;  ///< at most
  std::uint32_t batch;    ///< records of one request at most; 0: no batches, a request has one record
};

/// What a handler needs of the process.
struct Resources {
  bool workers;               ///< the lanes have worker threads for it; else it is asynchronous (handler.h)
  std::uint32_t threads = 0;  ///< of its own, without those of a Kafka client
  bool produces = false;      ///< it writes to Kafka with a client of its own
  std::optional<Requests> requests = std::nullopt;  ///< nothing: it makes none
  /// Files, sockets and pipes; those of a Kafka client are not among them.
  std::uint32_t descriptors_always = 0;
  std::uint32_t descriptors_per_call = 0;

  /// When `at_work` records are at work.
  std::uint64_t descriptors(std::uint64_t at_work) const {
    const auto calls = requests ? std::min<std::uint64_t>(requests->at_once, at_work) : at_work;
    return descriptors_always + descriptors_per_call * calls;
  }
};
Resources resources_of(const config::HandlerSettings& settings);

/// The outside libraries that the handlers use, each once.
std::vector<Library> libraries();

}  // namespace laneway::handler
