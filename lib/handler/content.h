// A record as it is read: its key, value and headers as handlers receive them, and the texts by which it is
// routed and ordered. Nothing else reads the bytes of a record, so a decoder (Avro, an encrypted value)
// changes this class only: docs/developing.md has the recipe. What carries the bytes unread (dead letters,
// retry topics, copies) uses the raw_ functions of kafka::Record; unit.layout has the list.
//
// Ownership: a view of the record, which must outlive it. Views that it returns live as long as this object:
// they must not be taken from a temporary one. Threads: one at a time. Nothing blocks; without a selector or
// headers nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/pools.h"
#include "kafka/record.h"
#include "tracing/attempt_trace.h"

namespace laneway::handler {

class Content {
 public:
  Content(const kafka::Record& record) : record_(record) {}  // implicit: each record is read in this way

  std::string_view topic() const { return record_.topic(); }
  std::int32_t partition() const { return record_.partition(); }
  std::int64_t offset() const { return record_.offset(); }
  std::int64_t timestamp() const { return record_.timestamp(); }
  /// About how many bytes key and value have.
  std::size_t size() const { return record_.size(); }

  /// nullopt if null, as in kafka::Record.
  std::optional<std::string_view> key() const& { return record_.raw_key(); }
  std::optional<std::string_view> key() const&& = delete;
  std::optional<std::string_view> value() const& { return record_.raw_value(); }
  std::optional<std::string_view> value() const&& = delete;
  /// If `trace` is given, its traceparent replaces the record's; `trace` must live as long as the views.
  std::vector<kafka::Header> headers(const tracing::AttemptTrace* trace = nullptr) const&;
  std::vector<kafka::Header> headers(const tracing::AttemptTrace* trace = nullptr) const&& = delete;

  /// The string at `pointer` (RFC 6901, valid) in the value; nullopt if the value is not JSON or has no
  /// string there.
  std::optional<std::string> text_at(const std::string& pointer) const;
  /// The same, or the digits of a whole number of up to 64 bits.
  std::optional<std::string> text_or_number_at(const std::string& pointer) const;
  /// The text that decides about the record: the pool that it goes to (config::RouteSettings), the subscriber
  /// whose limits apply to it (config::Each). `part`: the id of its sub-job. nullopt if the record has no
  /// such key, header, text or number at the place in the value, or part. Of several headers with the name,
  /// the last one counts.
  std::optional<std::string> selected(const config::Selector& selector, std::string_view part) const;
  /// The id of the sub-job that the record comes back for, from a retry topic or a dead-letter topic; empty
  /// if every sub-job of the record is wanted.
  std::string wanted_sub_job() const;

  /// For what carries the record unread.
  const kafka::Record& unread() const { return record_; }

 private:
  std::optional<std::string> last_header(std::string_view name) const;

  const kafka::Record& record_;
};

}  // namespace laneway::handler
