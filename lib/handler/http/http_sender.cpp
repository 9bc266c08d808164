#include "handler/http/http_sender.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/shortage.h"
#include "handler/format/record_json.h"
#include "handler/format/results.h"
#include "handler/http/http_batch.h"
#include "handler/http/http_results.h"

namespace laneway::handler {
namespace {

constexpr Duration look_interval = milliseconds(50);  // the longest delay until a stop is noticed

HttpEndpoint endpoint_of(const config::HttpSettings& settings, const HttpPlace& place) {
  HttpEndpoint endpoint{settings.url,     place.server,           settings.content_type,
                        settings.timeout, settings.authorization, settings.ca};
  if (settings.batch.records > 0) {
    endpoint.content_type = batch_content_type(settings.batch.format);
    endpoint.kept_of_answer = longest_verdicts(settings.batch.records);
    endpoint.reads_answer = true;
  }
  endpoint.public_only = place.subscribers != nullptr && !settings.private_addresses;
  if (place.passes_on) {
    const bool batches = settings.batch.records > 0;
    endpoint.kept_of_answer = largest_results + (batches ? endpoint.kept_of_answer : 0);
    endpoint.reads_answer = endpoint.passes_on = true;
  }
  return endpoint;
}

}  // namespace

/// Records in flight, in one request.
class HttpSender::Request final : public HttpExchange {
 public:
  explicit Request(HttpSender& sender) : sender_(sender) {}

  void answered(const HttpAnswer& answer) override { sender_.conclude(*this, answer); }
  /// The record whose outcome counts for the whole request: an answered record, if there is one.
  std::size_t counted(const std::vector<Outcome>& outcomes) const {
    std::size_t found = works.size();
    for (auto i = works.size(); i-- > 0;)
      if (works[i] && (found == works.size() || outcomes[i].verdict != Verdict::unavailable)) found = i;
    return found;
  }

  std::vector<WorkPtr> works;  // null if stopped and answered
  std::string body;            // of a batch
  HttpTarget target;           // empty: the endpoint
  std::size_t place = 0;       // in in_air_
  TimePoint due{};
  Duration stood{};  // the time that the process had stood still when the request began

 private:
  HttpSender& sender_;
};

bool HttpSender::Work::goes_alone() const {
  const auto* before = attempt->failures;
  const bool has_failed = before != nullptr && before->last_ms > 0 && !before->unavailable;
  return spoilt || attempt->number > 1 || has_failed;
}

HttpSender::HttpSender(const config::HttpSettings& settings, const HttpPlace& place, HttpLimits limits)
    : endpoint_(endpoint_of(settings, place)),
      subscribers_(place.subscribers),
      passed_on_(settings.headers),
      rules_{settings.max_retry_after, settings.statuses},
      batch_(settings.batch),
      client_(endpoint_, limits),
      next_look_(SteadyClock::now() + look_interval) {}

HttpSender::~HttpSender() = default;

void HttpSender::add(Task task) { wait_for_turn(std::make_unique<Work>(std::move(task))); }

void HttpSender::wait_for_turn(WorkPtr work) {
  if (batch_.records > 0) work->since = SteadyClock::now();
  waiting_.push_back(std::move(work));
}

void HttpSender::serve() {
  send_waiting();
  const auto look = std::max(next_look_ - SteadyClock::now(), Duration::zero());
  client_.serve(std::min(look, until_due()));
  if (SteadyClock::now() >= next_look_) look_for_stops();
}

/// The time until the next request may begin; more than enough if something else must happen first.
Duration HttpSender::until_due() const {
  if (waiting_.empty() || !client_.has_room()) return look_interval;
  const Work& first = *waiting_.front();
  if (waiting_.size() >= batch_.records || first.goes_alone()) return Duration::zero();
  return std::max(first.since + batch_.linger - SteadyClock::now(), Duration::zero());
}

void HttpSender::send_waiting() {
  while (!waiting_.empty() && client_.has_room() && until_due() == Duration::zero()) {
    in_air_.push_back(std::make_unique<Request>(*this));
    in_air_.back()->place = in_air_.size() - 1;
    begin(*in_air_.back());
  }
}

/// Takes the first waiting records that can be sent together. Returns their text, for batches.
std::vector<std::string> HttpSender::take_works(std::vector<WorkPtr>& works) {
  std::vector<std::string> records;
  std::size_t bytes = 0;
  bool full = false;
  while (!full && !waiting_.empty()) {
    const bool alone = waiting_.front()->goes_alone();
    if (alone && !works.empty()) break;
    works.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    Work& work = *works.back();
    if (work.index == 0) work.task.asked();
    if (batch_.records > 0) {
      records.push_back(record_json(*work.attempt));
      bytes += records.back().size();
    }
    full = alone || works.size() >= batch_.records || bytes >= batch_.bytes;
  }
  return records;
}

void HttpSender::begin(Request& request) {
  request.stood = SteadyClock::stood_still();
  request.due = SteadyClock::now() + endpoint_.timeout;
  next_look_ = std::min(next_look_, request.due);
  try {
    const auto records = take_works(request.works);
    headers_.clear();
    const Attempt& attempt = *request.works.front()->attempt;
    if (batch_.records > 0) {
      request.body = batch_body(batch_.format, records);
      add_batch_headers(records.size(), headers_);
      return client_.begin(request, "", request.body, headers_);
    }
    if (subscribers_ != nullptr) return begin_at_subscriber(request);
    add_request_headers(attempt, passed_on_, headers_);
    client_.begin(request, "", attempt.record.value().value_or(""), headers_);
  } catch (const std::bad_alloc&) {
    not_begun(request, Outcome::local("no request to " + endpoint_.server + ": " + *shortage_of(ENOMEM)));
  } catch (...) {
    not_begun(request, outcome_of_exception());
  }
}

void HttpSender::begin_at_subscriber(Request& request) {
  const Attempt& attempt = *request.works.front()->attempt;
  if (const auto outcome = subscribers_->address(attempt, passed_on_, request.target, headers_))
    return not_begun(request, *outcome);
  client_.begin(request, request.target.url, attempt.record.value().value_or(""), headers_);
}

void HttpSender::not_begun(Request& request, const Outcome& outcome) {
  const auto ended = take_out(request);  // must live as long as the loop over its records
  for (auto& work : ended->works) answer(std::move(work), outcome);
}

/// Whether the connection timed out only by libcurl's clock, which continued while the process stood still.
/// Nothing was sent.
bool HttpSender::missed_connecting(const Request& request, const HttpAnswer& answer) {
  return answer.transport == Transport::timed_out && !answer.sent &&
         SteadyClock::stood_still() > request.stood;
}

void HttpSender::conclude(Request& request, const HttpAnswer& answered) {
  const auto ended = take_out(request);
  if (missed_connecting(*ended, answered)) return wait_again(*ended);
  if (is_spoilt(*ended, answered)) {
    for (const WorkPtr& work : ended->works)
      if (work) work->spoilt = true;
    return wait_again(*ended);
  }
  auto outcomes = verdicts(*ended, answered);
  const auto counted = ended->counted(outcomes);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].same_call = i != counted;
    if (ended->works[i]) answer(std::move(ended->works[i]), std::move(outcomes[i]));
  }
}

/// Puts the records in front of all waiting records.
void HttpSender::wait_again(Request& request) {
  for (auto work = request.works.rbegin(); work != request.works.rend(); ++work)
    if (*work) waiting_.push_front(std::move(*work));
}

bool HttpSender::is_spoilt(const Request& request, const HttpAnswer& answer) const {
  return handler::is_spoilt(answer, request.works.size(), endpoint_.server, rules_);
}

std::vector<Outcome> HttpSender::verdicts(const Request& request, const HttpAnswer& answer) const {
  if (batch_.records > 0) {
    std::vector<const Content*> asked;
    if (endpoint_.passes_on)
      for (const WorkPtr& work : request.works) asked.push_back(work ? &work->attempt->record : nullptr);
    return batch_verdicts(answer, request.works.size(), endpoint_.server, rules_, asked);
  }
  const auto& server = request.target.server.empty() ? endpoint_.server : request.target.server;
  auto outcome = verdict_of(answer, server, rules_);
  const WorkPtr& work = request.works.front();
  if (endpoint_.passes_on && work)
    outcome = with_results(std::move(outcome), answer, work->attempt->record, server);
  return {std::move(outcome)};
}

std::unique_ptr<HttpSender::Request> HttpSender::take_out(Request& request) {
  const auto place = request.place;
  in_air_.back()->place = place;
  std::swap(in_air_[place], in_air_.back());
  auto out = std::move(in_air_.back());
  in_air_.pop_back();
  return out;
}

void HttpSender::answer(WorkPtr work, Outcome outcome) {
  load_.fetch_sub(1, std::memory_order_relaxed);  // before the answer, whose receiver may give the next task
  if (!answer_attempt(work->task, work->index, work->attempt->stop, std::move(outcome))) return;
  const auto next = work->task.next();
  if (!next) return;
  announce();
  ++work->index;
  work->attempt.emplace(*next);
  work->spoilt = false;
  wait_for_turn(std::move(work));
}

void HttpSender::look_for_stops() {
  const auto now = SteadyClock::now();
  next_look_ = now + look_interval;
  const auto ended = std::erase_if(waiting_, [](const WorkPtr& work) { return work->stopped(); });
  load_.fetch_sub(static_cast<std::uint32_t>(ended), std::memory_order_relaxed);
  for (std::size_t i = in_air_.size(); i-- > 0;) look_for_stops(*in_air_[i], now);
}

void HttpSender::look_for_stops(Request& request, TimePoint now) {
  // Records that are stopped during these answers are handled at the next check.
  auto stopped = take_stopped(request);
  const bool ended = std::all_of(request.works.begin(), request.works.end(),
                                 [](const WorkPtr& work) { return work == nullptr; });
  if (ended) client_.cancel(request);
  answer_stopped(std::move(stopped), ended);
  if (ended)
    take_out(request);
  else if (now >= request.due)
    end_late(request);
  else
    next_look_ = std::min(next_look_, request.due);
}

std::vector<HttpSender::WorkPtr> HttpSender::take_stopped(Request& request) {
  std::vector<WorkPtr> stopped;
  for (WorkPtr& work : request.works)
    if (work && work->stopped()) stopped.push_back(std::move(work));
  return stopped;
}

void HttpSender::end_late(Request& request) {
  const auto answer = client_.time_out(request);
  conclude(request, answer);
}

/// `ended`: no other record waits for the request of these records, so one of them counts for the request.
void HttpSender::answer_stopped(std::vector<WorkPtr> works, bool ended) {
  HttpAnswer stopped;
  stopped.transport = Transport::stopped;
  auto outcome = verdict_of(stopped, endpoint_.server, rules_);
  for (WorkPtr& work : works) {
    outcome.same_call = !std::exchange(ended, false);
    answer(std::move(work), outcome);
  }
}

}  // namespace laneway::handler
