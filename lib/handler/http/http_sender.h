// Sends the records of tasks and answers the tasks: the http handler without its thread.
//
// Waiting records are sent in the order in which they came, as soon as the client has room. The records of
// one task are sent one after the other: the next record when the previous one is done. Every 50 ms the
// sender checks for requested stops: a record in flight is answered, and its request is aborted if no other
// record waits for it; a task whose record has not been sent ends unanswered, because nothing was attempted.
//
// The time of a request is measured here, because libcurl's clock continues while the process stands still.
// After a SIGCONT an answer that is already in the socket counts, and a request without an answer has the
// rest of its time.
//
// Batches: a request takes records of all lanes as they come, until it has batch.records or batch.bytes, or
// its first record has waited for batch.linger. A request never has two records of one task, so the order is
// kept however the service works on them: records of one key (or of one partition, if that is the order) are
// never in flight together. A record that has failed is next sent in a request of its own, even if the
// attempt did not count, so that a record that spoils every request spoils no other record. If the service
// was unavailable, or asked for fewer calls, the record stays with others. The records of a request that is
// rejected as a whole are sent again at once, each in a request of its own: the rejection itself counts for
// no record, neither as an attempt nor as a call. For the breaker a request is one call, whatever the answers
// for its records are (Outcome::same_call).
//
// Memory: bounded by the caller that adds tasks, with the lanes' slots: a pool gives out no more claims than
// lanes.workers, and a task of most_per_task() == 1 is one record or the records of one key.
//
// Used by one thread at a time, except for methods marked "from any thread". Only serve() blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "handler/handler.h"
#include "handler/http/http_client.h"
#include "handler/http/http_subscribers.h"

namespace laneway::handler {

/// What the senders of a handler share.
struct HttpPlace {
  std::string server;                      ///< host:port, for reasons
  bool passes_on = false;                  ///< answers have results (handler/http/http_results.h)
  HttpSubscribers* subscribers = nullptr;  ///< the destinations of requests; null if all go to one URL
};

class HttpSender {
 public:
  /// Throws std::bad_alloc, std::system_error.
  HttpSender(const config::HttpSettings& settings, const HttpPlace& place, HttpLimits limits);
  /// Aborts requests in flight; tasks end with the records that were answered.
  ~HttpSender();
  HttpSender(const HttpSender&) = delete;
  HttpSender& operator=(const HttpSender&) = delete;

  /// Announces a task, which counts in load() from now on. From any thread.
  void announce() noexcept { load_.fetch_add(1, std::memory_order_relaxed); }
  /// The number of announced tasks that are neither ended nor just being answered. From any thread.
  std::uint32_t load() const noexcept { return load_.load(std::memory_order_relaxed); }
  /// Adds a task that has been announced.
  void add(Task task);
  /// Waits up to 50 ms for an event. Answers tasks.
  void serve();
  /// From any thread.
  void wake() noexcept { client_.wake(); }

 private:
  /// A task, and its record whose turn it is.
  struct Work {
    explicit Work(Task given) : task(std::move(given)), attempt(task.next()) {}
    bool goes_alone() const;
    bool stopped() const { return attempt->stop.stop_requested(); }
    Task task;
    std::uint32_t index = 0;
    std::optional<Attempt> attempt;
    TimePoint since;      // the time at which it began to wait, for batches
    bool spoilt = false;  // a request with this record and others was rejected
  };
  using WorkPtr = std::unique_ptr<Work>;
  class Request;

  void wait_for_turn(WorkPtr work);
  Duration until_due() const;
  std::vector<std::string> take_works(std::vector<WorkPtr>& works);
  void send_waiting();
  void begin(Request& request);
  void begin_at_subscriber(Request& request);
  void not_begun(Request& request, const Outcome& outcome);
  void conclude(Request& request, const HttpAnswer& answer);
  void wait_again(Request& request);
  bool is_spoilt(const Request& request, const HttpAnswer& answer) const;
  std::vector<Outcome> verdicts(const Request& request, const HttpAnswer& answer) const;
  std::unique_ptr<Request> take_out(Request& request);
  void answer(WorkPtr work, Outcome outcome);
  void look_for_stops();
  void look_for_stops(Request& request, TimePoint now);
  static std::vector<WorkPtr> take_stopped(Request& request);
  void answer_stopped(std::vector<WorkPtr> works, bool ended);
  void end_late(Request& request);
  static bool missed_connecting(const Request& request, const HttpAnswer& answer);

  const HttpEndpoint endpoint_;
  HttpSubscribers* const subscribers_;  // may be null
  const std::vector<std::string> passed_on_;
  const AnswerRules rules_;
  const config::HttpSettings::Batch batch_;
  std::atomic<std::uint32_t> load_{0};

  HttpClient client_;
  RequestHeaders headers_;  // of the request that is being started
  std::deque<WorkPtr> waiting_;
  std::vector<std::unique_ptr<Request>> in_air_;
  TimePoint next_look_;
};

}  // namespace laneway::handler
