#include "delivery/rate/token_bucket.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {
const TimePoint bucket_start = TimePoint{} + std::chrono::hours(1);
}

TEST_CASE("a burst is available at first, then tokens come at the rate") {
  TokenBucket bucket(10, 5);
  CHECK(bucket.available(bucket_start) == Approx(5));
  bucket.take(bucket_start, 5);
  CHECK(bucket.available(bucket_start) == Approx(0));
  CHECK(bucket.ready_at(bucket_start) == bucket_start + milliseconds(100));
  CHECK(bucket.available(bucket_start + milliseconds(300)) == Approx(3));
  CHECK(bucket.available(bucket_start + seconds(60)) == Approx(5));
}

TEST_CASE("a cost that is known late leaves a debt that is waited for") {
  TokenBucket bucket(1000, 1000);
  bucket.take(bucket_start, 3000);
  CHECK(bucket.available(bucket_start) == Approx(-2000));
  CHECK(bucket.ready_at(bucket_start) == bucket_start + milliseconds(2001));
}

TEST_CASE("over a long time, the tokens stay within the rate and the burst") {
  TokenBucket bucket(100, 10);
  double passed = 0;
  for (auto now = bucket_start; now < bucket_start + seconds(10); now += milliseconds(7)) {
    while (bucket.available(now) >= 1) {
      bucket.take(now, 1);
      ++passed;
    }
  }
  CHECK(passed <= 1010);
  CHECK(passed >= 1000);
}

TEST_CASE("a rate of 0 sets no limit") {
  TokenBucket bucket(0, 0);
  CHECK_FALSE(bucket.limited());
  bucket.take(bucket_start, 1e9);
  CHECK(bucket.ready_at(bucket_start) == bucket_start);
}

TEST_CASE("a changed rate keeps the tokens and the debt") {
  TokenBucket bucket(10, 10);
  bucket.take(bucket_start, 4);
  bucket.change(bucket_start + milliseconds(100), 100, 5);  // seven were there
  CHECK(bucket.available(bucket_start + milliseconds(100)) == Approx(5));
  bucket.take(bucket_start + milliseconds(100), 55);
  bucket.change(bucket_start + milliseconds(100), 10, 10);
  CHECK(bucket.available(bucket_start + milliseconds(100)) == Approx(-50));
  CHECK(bucket.available(bucket_start + milliseconds(5100)) == Approx(0));
  bucket.change(bucket_start + seconds(6), 0, 0);
  CHECK_FALSE(bucket.limited());
  bucket.take(bucket_start + seconds(6), 1000);
  bucket.change(bucket_start + seconds(6), 10, 20);  // there was no limit: as new
  CHECK(bucket.available(bucket_start + seconds(6)) == Approx(20));
}
