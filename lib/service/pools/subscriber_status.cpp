#include "service/pools/subscriber_status.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/utc_time.h"
#include "config/text.h"
#include "delivery/dead_letter/dead_letter.h"
#include "service/downstream_status.h"

namespace laneway::service {
namespace {

constexpr const char* others = "(others)";

struct Candidate {
  std::shared_ptr<lane::KeyedLimit> limit;
  bool out = false;
  bool all_places_taken = false;
  lane::KeyedLimit::Waiting waiting{};
  ParkedStatus parked{};

  bool at_limit() const { return waiting.first > 0 && (all_places_taken || limit->rate.limited()); }
  std::uint64_t all_waiting() const { return waiting.first + waiting.next; }
  std::uint64_t in_trouble() const { return all_waiting() + parked.records; }
};

Candidate candidate_of(std::shared_ptr<lane::KeyedLimit> limit) {
  Candidate found;
  found.out = !limit->downstream.closed();
  found.all_places_taken = limit->places.most() > 0 && limit->places.running() >= limit->places.most();
  found.waiting = limit->waiting();
  found.limit = std::move(limit);
  return found;
}

/// Those with the same number of waiting records are in the order of their names.
bool is_worse(const Candidate& a, const Candidate& b) {
  return std::make_tuple(b.out, b.in_trouble(), std::cref(a.limit->text())) <
         std::make_tuple(a.out, a.in_trouble(), std::cref(b.limit->text()));
}

std::string text_of(const Candidate& one, const DownstreamStatus& downstream, std::int64_t now_ms) {
  std::vector<std::string> parts;
  if (const auto since = out_since_ms(downstream, now_ms))
    parts.push_back("out since " + utc_clock(*since, now_ms));
  if (!one.out && one.at_limit())
    parts.push_back(one.all_places_taken ? "runs as many records at once as it may" : "is at its rate");
  const auto calls = calls_in_words(downstream);
  if (!calls.empty()) parts.push_back(calls);
  if (one.parked.records > 0) parts.push_back(in_words(one.parked, now_ms));
  // The kinds of the failed calls may be all that is known of them.
  if (downstream.out && calls.find(downstream.last_failure) == std::string::npos)
    parts.push_back("last failure: " + downstream.last_failure);
  return config::join(parts, "; ");
}

SubscriberStatus status_of(const Candidate& one, std::int64_t now_ms) {
  const auto downstream =
      status_of(WatchedDownstream{.downstream = &one.limit->downstream, .rate = &one.limit->rate});
  SubscriberStatus status;
  status.name = one.limit->text().empty()
                    ? others
                    : delivery::clean_text(one.limit->text(), SubscriberStatus::max_name);
  status.state = downstream.state;
  status.running = one.limit->places.running();
  status.most = one.limit->places.most();
  status.waiting = one.all_waiting();
  status.parked = one.parked;
  status.text = text_of(one, downstream, now_ms);
  return status;
}

/// The parked records of further subscribers, which are not counted apart; nullopt if there are none.
std::optional<SubscriberStatus> counted_together(const lane::ParkedRecords::OfPool& parked,
                                                 std::int64_t now_ms, TimePoint now) {
  const auto found = parked.find(lane::ParkedRecords::others);
  if (found == parked.end() || found->second.records == 0) return std::nullopt;
  SubscriberStatus status;
  status.name = others;
  status.parked = service::status_of(found->second, now);
  status.text = in_words(status.parked, now_ms);
  return status;
}

}  // namespace

ParkedStatus status_of(const lane::ParkedRecords::Count& count, TimePoint now) {
  if (count.records == 0) return {};
  return {count.records, std::max<Duration>(now - count.oldest, Duration::zero())};
}

std::string in_words(const ParkedStatus& parked, std::int64_t now_ms) {
  if (parked.records == 0) return {};
  const auto since = now_ms - duration_cast<milliseconds>(parked.oldest).count();
  return config::counted(parked.records, "record") + (parked.records == 1 ? " is" : " are") +
         " parked, and the oldest has waited since " + utc_clock(since, now_ms);
}

Subscribers subscribers_of(const lane::KeyedLimits& limits, std::int64_t now_ms,
                           const lane::ParkedRecords::OfPool& parked, TimePoint now) {
  Subscribers found;
  std::vector<Candidate> troubled;
  auto rest = counted_together(parked, now_ms, now);
  for (auto& limit : limits.all()) {
    ++found.known;
    if (limit->text().empty()) rest.reset();
    auto candidate = candidate_of(std::move(limit));
    if (const auto count = parked.find(candidate.limit->text()); count != parked.end())
      candidate.parked = status_of(count->second, now);
    if (candidate.out)
      ++found.out;
    else if (candidate.at_limit())
      ++found.at_limit;
    else if (candidate.parked.records > 0)
      ++found.with_parked;
    else
      continue;
    troubled.push_back(std::move(candidate));
  }
  const auto shown = std::min(troubled.size(), Subscribers::max_worst - (rest ? 1 : 0));
  std::partial_sort(troubled.begin(), troubled.begin() + static_cast<std::ptrdiff_t>(shown), troubled.end(),
                    is_worse);
  for (std::size_t i = 0; i < shown; ++i) found.worst.push_back(status_of(troubled[i], now_ms));
  if (rest) found.worst.push_back(std::move(*rest));
  return found;
}

}  // namespace laneway::service
