#include "handler/http_sender.h"

#include <utility>

namespace laneway::handler {
namespace {

constexpr Duration look_interval = milliseconds(50);  // how late a stop may be seen

}  // namespace

/// One record in the air.
class HttpSender::Request final : public HttpExchange {
 public:
  Request(HttpSender& sender, WorkPtr given) : work(std::move(given)), sender_(sender) {}

  void answered(const HttpAnswer& answer) override { sender_.conclude(*this, answer); }

  WorkPtr work;
  std::size_t place = 0;  // in in_air_

 private:
  HttpSender& sender_;
};

HttpSender::HttpSender(const config::HttpHandler& settings, std::string server)
    : endpoint_{settings.url, std::move(server), settings.content_type, settings.timeout},
      passed_on_(settings.headers),
      max_retry_after_(settings.max_retry_after),
      client_(endpoint_, settings.connections),
      next_look_(SteadyClock::now() + look_interval) {}

HttpSender::~HttpSender() = default;

void HttpSender::add(Task task) { waiting_.push_back(std::make_unique<Work>(std::move(task))); }

void HttpSender::serve() {
  send_waiting();
  client_.serve(look_interval);
  if (SteadyClock::now() >= next_look_) look_for_stops();
}

void HttpSender::send_waiting() {
  while (!waiting_.empty() && client_.has_room()) {
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    send(std::move(work));
  }
}

void HttpSender::send(WorkPtr work) {
  auto request = std::make_unique<Request>(*this, std::move(work));
  const Attempt& attempt = *request->work->attempt;
  try {
    client_.begin(*request, attempt.record.value().value_or(""),
                  request_headers(attempt.record, attempt.number, passed_on_));
  } catch (...) {
    return answer(std::move(request->work), outcome_of_exception());
  }
  request->place = in_air_.size();
  in_air_.push_back(std::move(request));
}

void HttpSender::conclude(Request& request, const HttpAnswer& answered) {
  const auto ended = take_out(request);
  answer(std::move(ended->work), verdict_of(answered, endpoint_.server, max_retry_after_));
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
  if (!answer_attempt(work->task, work->index, work->attempt->stop, std::move(outcome))) return;
  if (++work->index == work->task.size()) return;
  work->attempt.emplace(work->task.attempt(work->index));
  waiting_.push_back(std::move(work));
}

void HttpSender::look_for_stops() {
  next_look_ = SteadyClock::now() + look_interval;
  std::erase_if(waiting_, [](const WorkPtr& work) { return work->attempt->stop.stop_requested(); });
  HttpAnswer stopped;
  stopped.transport = Transport::stopped;
  for (std::size_t i = in_air_.size(); i-- > 0;) {
    Request& request = *in_air_[i];
    if (!request.work->attempt->stop.stop_requested()) continue;
    client_.cancel(request);
    conclude(request, stopped);
  }
}

}  // namespace laneway::handler
