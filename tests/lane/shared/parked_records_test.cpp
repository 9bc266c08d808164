// The numbers of parked records: by pool and subscriber, until the records are due.
#include "lane/shared/parked_records.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using std::chrono::minutes;

namespace {

const TimePoint parked_start = TimePoint{} + std::chrono::hours(100);

}  // namespace

TEST_CASE("parked records are counted by pool and subscriber until they are due, with the oldest of them") {
  ParkedRecords parked;
  const auto now = parked_start;
  parked.add("send", "acme", now - minutes(5), minutes(10), now);
  parked.add("send", "acme", now - minutes(7), minutes(10), now + seconds(1));
  parked.add("send", "bobs", now - minutes(1), minutes(1), now);
  parked.add("mail", "", now, seconds(10), now);
  auto send = parked.of_pool("send", now);
  REQUIRE(send.size() == 2);
  CHECK(send["acme"].records == 2);
  CHECK(send["acme"].oldest == now - minutes(7));
  CHECK(send["bobs"].records == 1);
  CHECK(total_of(send).records == 3);
  CHECK(total_of(send).oldest == now - minutes(7));
  CHECK(total_of(parked.of_pool("mail", now)).records == 1);
  CHECK(parked.of_pool("other", now).empty());

  CHECK(parked.of_pool("mail", now + seconds(10)).empty());
  CHECK(parked.of_pool("send", now + minutes(1)).size() == 1);
  CHECK(total_of(parked.of_pool("send", now + minutes(9))).records == 2);
  CHECK(parked.of_pool("send", now + minutes(10) + seconds(1)).empty());
}

TEST_CASE("the oldest parked record is the oldest of those that are not due yet") {
  ParkedRecords parked;
  const auto now = parked_start;
  parked.add("send", "acme", now - minutes(30), minutes(1), now);
  parked.add("send", "acme", now - minutes(2), minutes(10), now);
  CHECK(total_of(parked.of_pool("send", now)).oldest == now - minutes(30));
  CHECK(total_of(parked.of_pool("send", now + minutes(2))).oldest == now - minutes(2));
}

TEST_CASE("a record that is parked again when it is due is counted once") {
  ParkedRecords parked;
  auto now = parked_start + milliseconds(1234);
  for (int round = 0; round < 50; ++round, now += minutes(10)) {
    CHECK(parked.of_pool("send", now).empty());
    parked.add("send", "acme", parked_start, minutes(10), now);
    CHECK(total_of(parked.of_pool("send", now)).records == 1);
  }
}

TEST_CASE("records that are all due at once are counted no more") {
  ParkedRecords parked;
  parked.add("send", "acme", parked_start, minutes(10), parked_start);
  parked.all_due();
  CHECK(parked.of_pool("send", parked_start).empty());
}

TEST_CASE("subscribers beyond the most that are counted apart are counted together, and none is lost") {
  ParkedRecords parked;
  const auto many = 2 * ParkedRecords::most_subscribers;
  for (std::size_t i = 0; i < many; ++i)
    parked.add("send", "subscriber " + std::to_string(i), parked_start, minutes(10), parked_start);
  const auto send = parked.of_pool("send", parked_start);
  CHECK(send.size() == ParkedRecords::most_subscribers + 1);
  CHECK(total_of(send).records == many);
  CHECK(send.at(std::string(ParkedRecords::others)).records == many - ParkedRecords::most_subscribers);
  // When the records of the first ones are due, others get their places.
  const auto later = parked_start + minutes(11);
  parked.add("send", "a new one", later, minutes(10), later);
  CHECK(parked.of_pool("send", later).contains("a new one"));
}
