// A record that is a copy, in one piece of memory, is what it was made of.
#include "kafka/record.h"

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "catch.h"

using namespace laneway::kafka;

namespace {

using Bytes = std::optional<std::string>;

rc::Gen<Bytes> some_bytes() {
  return rc::gen::oneOf(
      rc::gen::just(Bytes()), rc::gen::just(Bytes("")),
      rc::gen::map(rc::gen::arbitrary<std::string>(), [](auto text) { return Bytes(text); }));
}

RecordData some_record() {
  RecordData data;
  data.topic = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
  data.partition = *rc::gen::inRange(0, 1000);
  data.offset = *rc::gen::inRange<std::int64_t>(0, 1LL << 60);
  data.timestamp = *rc::gen::inRange<std::int64_t>(-1, 1LL << 50);
  data.timestamp_type =
      *rc::gen::element(TimestampType::none, TimestampType::create_time, TimestampType::log_append_time);
  data.key = *some_bytes();
  data.value = *some_bytes();
  for (int left = *rc::gen::inRange(0, 5); left > 0; --left)
    data.headers.emplace_back(*rc::gen::arbitrary<std::string>(), *some_bytes());
  return data;
}

Bytes owned(std::optional<std::string_view> view) { return view ? Bytes(std::string(*view)) : std::nullopt; }

void require_same(const Record& record, const RecordData& data) {
  RC_ASSERT(record.topic() == data.topic);
  RC_ASSERT(record.partition() == data.partition);
  RC_ASSERT(record.offset() == data.offset);
  RC_ASSERT(record.timestamp() == data.timestamp);
  RC_ASSERT(record.timestamp_type() == data.timestamp_type);
  RC_ASSERT(owned(record.raw_key()) == data.key);
  RC_ASSERT(owned(record.raw_value()) == data.value);
  RC_ASSERT(record.size() == data.key.value_or("").size() + data.value.value_or("").size());
  const auto headers = record.raw_headers();
  RC_ASSERT(headers.size() == data.headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    RC_ASSERT(std::string(headers[i].name) == data.headers[i].first);
    RC_ASSERT(owned(headers[i].value) == data.headers[i].second);
  }
}

}  // namespace

TEST_CASE("a copied record has every field, with null distinct from empty") {
  REQUIRE(rc::check([] {
    const auto data = some_record();
    Record record(data);
    require_same(record, data);
    record.detach();
    require_same(record, data);
    Record moved(std::move(record));
    RC_ASSERT(!record);
    require_same(moved, data);
    require_same(Record(moved.release_copy()), data);
    RC_ASSERT(!moved);
  }));
}

TEST_CASE("a record that borrows the value of another record has its own other fields") {
  REQUIRE(rc::check([] {
    const Record owner(some_record());
    auto data = some_record();
    const Record record(data, &owner);
    data.value = owned(owner.raw_value());
    require_same(record, data);
    RC_ASSERT(record.borrows_value());
    RC_ASSERT(record.own_size() == data.key.value_or("").size());
    RC_ASSERT(!record.raw_value() || record.raw_value()->data() == owner.raw_value()->data());
    Record again(data, &record);
    again.detach();
    require_same(again, data);
    RC_ASSERT(!again.raw_value() || again.raw_value()->data() == owner.raw_value()->data());
    require_same(Record(again.release_copy()), data);
  }));
  RecordData data;
  data.value = "value";
  const Record record(data);
  CHECK(record.own_size() == record.size());
  CHECK_FALSE(record.borrows_value());
}
