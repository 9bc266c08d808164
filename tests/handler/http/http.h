// An http handler and tasks of one record each.
#pragma once

#include <memory>
#include <vector>

#include "handler/registry.h"
#include "handler/run.h"
#include "handler/servers.h"

namespace laneway::handler {

inline config::HttpSettings settings_for(const std::string& url) {
  config::HttpSettings settings;
  settings.url = url;
  settings.timeout = seconds(60);
  return settings;
}

inline std::unique_ptr<Handler> made(const config::HttpSettings& settings) {
  auto handler = make_handler(config_with(settings));
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

inline std::unique_ptr<Handler> made(const std::string& url) { return made(settings_for(url)); }

inline std::vector<kafka::RecordData> one(kafka::RecordData data) {
  std::vector<kafka::RecordData> out;
  out.push_back(std::move(data));
  return out;
}

/// As many tasks as records, handed over one after the other; offsets from 0.
class Runs {
 public:
  Runs(Handler& handler, int count, std::uint32_t attempt = 1) {
    for (int i = 0; i < count; ++i) {
      runs_.push_back(std::make_unique<Run>(one(record_data(i, "v")), false, attempt));
      handler.handle(runs_.back()->task());
    }
  }
  Run& operator[](std::size_t index) { return *runs_[index]; }
  /// Waits until all have ended.
  int done() {
    int sum = 0;
    for (auto& run : runs_) sum += static_cast<int>(run->result().done);
    return sum;
  }
  const Outcome& failure(std::size_t index) {
    REQUIRE(runs_[index]->result().failures.size() == 1);
    return runs_[index]->result().failures[0].outcome;
  }

 private:
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace laneway::handler
