// A record as a plugin sees it: the plain struct of include/laneway/plugin.h, followed by laneway's own data.
//
// Threads: one at a time for one record. Valid until the record is answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "handler/handler.h"
#include "laneway/plugin.h"

namespace laneway::handler {

class PluginRecord : public laneway_record {
 public:
  PluginRecord() : laneway_record() {}

  /// Makes this object a view of that attempt's record.
  void show(const Attempt& begun);

  static const PluginRecord& of(const laneway_record* record) {
    return static_cast<const PluginRecord&>(*record);
  }

  std::size_t header_count() const { return headers().size(); }
  laneway_header header(std::size_t index) const;
  const std::string& delivery_id() const;
  std::string_view part() const { return begun_->part; }
  const StopToken& stop() const { return begun_->stop; }
  /// Adds a result; null for an empty list. Returns what is wrong with it, after which the record cannot be
  /// done; empty if nothing is wrong.
  std::string add_result(const laneway_result* result) const;
  bool has_results() const { return results_ != nullptr; }
  /// The outcome for the plugin's answer that the record is done. Call once.
  Outcome done() const { return has_results() ? with_results() : Outcome::done(); }

 private:
  struct Results {
    Parts parts;
    std::size_t size = 0;
    std::string wrong;  ///< what is wrong with the results; empty if nothing is
  };

  const std::vector<kafka::Header>& headers() const;
  Outcome with_results() const;

  std::optional<Attempt> begun_;
  mutable std::string delivery_id_;           // empty until it is first requested
  mutable std::unique_ptr<Results> results_;  // null if the plugin has added none
  mutable bool headers_read_ = false;
  mutable std::vector<kafka::Header> headers_;
};

/// Converts the plugin's answer to an outcome. An invalid verdict is a defect of the plugin, and becomes a
/// retry with that reason. `reason` may be null.
Outcome plugin_outcome(laneway_verdict verdict, std::int64_t after_ms, const char* reason);

}  // namespace laneway::handler
