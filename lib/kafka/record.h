// One record: an 8-byte owner of a fetched message of the client library, or of a copy of ours.
//
// A fetched message pins the whole buffer that it came in (up to fetch.max.bytes). A record that is kept for
// long (a retry with a long back-off) is therefore detached: copied into one piece of memory, about 60 bytes
// larger than the record, because very many records may wait. The buffer is then released. Views (topic, key,
// value, headers) live as long as the record and are not copied. Threads: one at a time. Any thread may
// destroy a record; the best one is the thread that handled the record, because destroying is the larger part
// of the client library's cost per record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct rd_kafka_message_s;

namespace laneway::kafka {

struct Header {
  std::string_view name;
  std::optional<std::string_view> value;  ///< nullopt if null
};

/// A copy of the bytes that `view` views; nullopt if null.
inline std::optional<std::string> copy_of(std::optional<std::string_view> view) {
  return view ? std::optional(std::string(*view)) : std::nullopt;
}

enum class TimestampType : std::uint8_t { none, create_time, log_append_time };

/// The fields of a record: to make a record that no broker delivered, or to change a copy.
struct RecordData {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp = -1;  ///< ms since 1970; -1 if unknown
  TimestampType timestamp_type = TimestampType::none;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

class Record {
 public:
  Record() = default;
  /// Takes ownership of the message.
  explicit Record(rd_kafka_message_s* message) : owned_(message) {}
  /// A copy of `data`. With an `owner`, the value is that of `owner` instead, and is not copied: `owner`, or
  /// the record whose value it has itself, must outlive this record.
  explicit Record(const RecordData& data, const Record* owner = nullptr);

  /// Releases the memory.
  void reset() noexcept { owned_.reset(); }
  explicit operator bool() const { return owned_ != nullptr; }

  std::string_view topic() const;
  std::int32_t partition() const;
  std::int64_t offset() const;
  std::int64_t timestamp() const;
  TimestampType timestamp_type() const;
  /// The bytes as they are in the log, for what carries them unread; handler::Content reads them. nullopt if
  /// the key is null; an empty view if the key is empty. Likewise the value (a null value is a tombstone).
  std::optional<std::string_view> raw_key() const;
  std::optional<std::string_view> raw_value() const;
  std::vector<Header> raw_headers() const;
  /// The size of key and value in bytes.
  std::size_t size() const;
  /// The same without a value that belongs to another record.
  std::size_t own_size() const;
  /// Whether the value belongs to another record.
  bool borrows_value() const;

  /// Copies the record and releases the fetch buffer. Does nothing if the record is a copy already.
  void detach();
  /// Returns the record's fields, which the caller may change. This record is empty afterwards.
  RecordData release_copy();

 private:
  struct Copy;
  struct Fields;
  struct Destroy {
    void operator()(rd_kafka_message_s* owned) const noexcept;
  };

  void copy_from(const Fields& fields);
  /// nullptr if the record is a message of the client.
  const Copy* copy() const {
    const auto bits = reinterpret_cast<std::uintptr_t>(owned_.get());
    return (bits & copy_bit) != 0 ? reinterpret_cast<const Copy*>(bits - copy_bit) : nullptr;
  }

  static constexpr std::uintptr_t copy_bit = 1;
  std::unique_ptr<rd_kafka_message_s, Destroy> owned_;  // or the address of a Copy, plus the bit
};

}  // namespace laneway::kafka
