#include "admin/http/reception.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "admin/http/request_head.h"
#include "base/poll.h"
#include "base/shortage.h"
#include "telemetry/log.h"

namespace laneway::admin {
namespace {

constexpr int most_accepted = 16;  // before other clients are served
constexpr Duration accept_pause = milliseconds(100);

}  // namespace

Reception::Reception(Listener listener, const ReceptionLimits& limits)
    : listener_(std::move(listener)), limits_(limits), reserve_(limits.reserve) {}

void Reception::run() {
  while (wait_and_serve()) {
    wake_event_.clear();
    const auto now = SteadyClock::now();
    take_answers(now);
    bound_unread();
    for (auto each = clients_.begin(); each != clients_.end();)
      each = each->second.state() == Connection::State::ended ? end(each) : std::next(each);
    MutexLock lock(mutex_);
    if (stopping_) return;
  }
}

/// Returns false if the system cannot report what has happened.
bool Reception::wait_and_serve() {
  auto now = SteadyClock::now();
  std::vector<pollfd> wanted{{wake_event_.number(), POLLIN, 0}};
  wanted.push_back({now < accept_from_ ? -1 : listener_.socket.number(), POLLIN, 0});
  for (const auto& [id, client] : clients_)
    wanted.push_back({client.wanted() == 0 ? -1 : client.socket(), client.wanted(), 0});
  if (poll_for(wanted, until_due(now)) < 0) return errno == EINTR || errno == ENOMEM;
  now = SteadyClock::now();
  auto event = wanted.begin() + 2;
  for (auto& [id, client] : clients_) {
    const bool ready = (event++)->revents != 0;
    if (ready) go_on(id, client, now);
    client.tick(now);
  }
  if (wanted[1].revents != 0) accept_clients(now);
  return true;
}

/// The time until the next client is late; a minute if none can be.
Duration Reception::until_due(TimePoint now) const {
  TimePoint due = now + seconds(60);
  if (now < accept_from_) due = accept_from_;
  for (const auto& [id, client] : clients_)
    if (client.wanted() != 0) due = std::min(due, client.deadline());
  return std::max(due - now, Duration::zero());
}

void Reception::accept_clients(TimePoint now) {
  for (int accepted = 0; accepted < most_accepted; ++accepted) {
    Descriptor socket = accept_one(now);
    if (socket.number() < 0) {
      if (errno == EAGAIN) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return accept_failed(errno, now);
    }
    while (clients_.size() >= limits_.connections && make_way(now)) {
    }
    const auto id = next_id_++;
    auto& client = clients_.try_emplace(id, std::move(socket), limits_.each, now).first->second;
    if (clients_.size() > limits_.connections)
      client.refuse("503 Service Unavailable", "too many connections; try again", now);
    else
      go_on(id, client, now);  // the request has often arrived already
  }
}

/// Invalid, with errno set, if there is no connection.
Descriptor Reception::accept_one(TimePoint now) {
  for (;;) {
    Descriptor socket(::accept4(listener_.socket.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int error = errno;
    if (socket.number() >= 0 || (error != EMFILE && error != ENFILE)) return socket;
    if (!reserve_.release() && !(make_way(now) && reserve_.release())) {
      errno = error;
      return socket;
    }
  }
}

/// No descriptors, not even reserved ones, or no memory: a temporary condition.
void Reception::accept_failed(int error, TimePoint now) {
  const auto why = shortage_of(error).value_or(std::generic_category().message(error));
  telemetry::log_repeating(telemetry::Level::warn, "admin accept: " + why, "admin connection not accepted",
                           {{"error", why}});
  accept_from_ = now + accept_pause;
}

void Reception::go_on(std::uint64_t id, Connection& client, TimePoint now) {
  const auto before = client.state();
  client.go_on(now);
  if (before != Connection::State::at_work && client.state() == Connection::State::at_work &&
      !hand_over(id, client))
    client.refuse("503 Service Unavailable", "too many requests at once; try again", now);
}

bool Reception::hand_over(std::uint64_t id, Connection& client) {
  auto request = client.take_request();
  {
    MutexLock lock(mutex_);
    const bool probe = is_probe(request);
    if (!probe && requests_.size() >= limits_.waiting) return false;
    (probe ? probes_ : requests_).push_back({id, std::move(request)});
  }
  changed_.notify_all();
  return true;
}

void Reception::take_answers(TimePoint now) {
  decltype(answers_) answers;
  {
    MutexLock lock(mutex_);
    answers.swap(answers_);
  }
  for (auto& [id, text] : answers)
    if (const auto client = clients_.find(id); client != clients_.end())
      client->second.answer(std::move(text), now);
}

Reception::Clients::iterator Reception::end(Clients::iterator client) {
  reserve_.end(client->second.release());
  return clients_.erase(client);
}

/// Cuts off the oldest answers while all unread answers are too long together; a single answer may have any
/// length.
void Reception::bound_unread() {
  std::size_t unread = 0, readers = 0;
  for (const auto& [id, client] : clients_) {
    unread += client.unsent();
    readers += client.unsent() > 0 ? 1 : 0;
  }
  for (auto each = clients_.begin(); unread > limits_.unread_bytes && readers > 1;) {
    if (each->second.unsent() == 0) {
      ++each;
      continue;
    }
    unread -= each->second.unsent();
    --readers;
    each = end(each);
  }
}

/// Ends the most expendable connection: the oldest with its answer sent, else the oldest without a request,
/// else the oldest that does not read. Returns false if there is none.
bool Reception::make_way(TimePoint now) {
  using State = Connection::State;
  for (const State least : {State::ended, State::closing, State::receiving, State::answering}) {
    const auto found = std::find_if(clients_.begin(), clients_.end(),
                                    [&](const auto& each) { return each.second.state() == least; });
    if (found == clients_.end()) continue;
    if (least == State::receiving)
      found->second.refuse("503 Service Unavailable", "too many connections; send the request at once", now);
    end(found);
    return true;
  }
  return false;
}

std::optional<Reception::Request> Reception::next(bool probes_only) {
  MutexLock lock(mutex_);
  while (!stopping_ && probes_.empty() && (probes_only || requests_.empty())) changed_.wait(mutex_);
  if (stopping_) return std::nullopt;
  auto& queue = probes_.empty() ? requests_ : probes_;
  Request request = std::move(queue.front());
  queue.pop_front();
  return request;
}

void Reception::answered(std::uint64_t client, std::string answer) {
  {
    MutexLock lock(mutex_);
    answers_.emplace_back(client, std::move(answer));
  }
  wake_event_.wake();
}

void Reception::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  wake_event_.wake();
}

void Reception::close() {
  clients_.clear();
  listener_.socket.close();
}

}  // namespace laneway::admin
