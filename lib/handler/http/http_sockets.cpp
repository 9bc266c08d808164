#include "handler/http/http_sockets.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/poll.h"

namespace laneway::handler {
namespace {

std::uint64_t tag_of(int socket, std::uint32_t owner) {
  return std::uint64_t{owner} << 32U | static_cast<std::uint32_t>(socket);
}
int socket_of(std::uint64_t tag) { return static_cast<int>(tag & 0xFFFFFFFFU); }
std::uint32_t owner_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 32U); }

}  // namespace

HttpSockets::HttpSockets() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.number() < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  epoll_event event{};
  event.data.u64 = tag_of(wake_event_.number(), 0);
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, wake_event_.number(), &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

HttpSockets::Socket& HttpSockets::at(int socket) {
  const auto number = static_cast<std::size_t>(socket);
  if (number >= sockets_.size()) sockets_.resize(number + 1);
  return sockets_[number];
}

void HttpSockets::opened(int socket) {
  at(socket) = {};
  at(socket).is_connection = true;
}

void HttpSockets::closed(int socket) {
  // Closing would be sufficient, unless a process that is being started has the socket as well.
  if (at(socket).registered != 0) forget(socket);
  at(socket) = {};
}

void HttpSockets::forget(int socket) {
  // The socket may be closed already, and is then no longer registered.
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, nullptr);
  at(socket).registered = 0;
}

void HttpSockets::watch(int socket, std::uint32_t owner, std::uint32_t wanted) {
  Socket& known = at(socket);
  known.wanted = wanted;
  if (wanted == 0) return;
  if (known.is_connection && known.registered == wanted && known.owner == owner) return;
  epoll_event event{};
  event.data.u64 = tag_of(socket, owner);
  event.events = wanted;
  const bool known_now =
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket, &event) == 0 ||
      (errno == EEXIST && ::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, socket, &event) == 0);
  known.owner = owner;
  known.registered = known_now ? wanted : 0;
}

std::optional<HttpSockets::Event> HttpSockets::next(Duration at_most) {
  if (!has_more()) {
    if (count_ == events_.size()) ::sched_yield();
    const int count =
        ::epoll_wait(epoll_.number(), events_.data(), static_cast<int>(events_.size()), poll_time(at_most));
    next_ = 0;
    count_ = static_cast<std::size_t>(std::max(count, 0));
  }
  while (has_more())
    if (const auto event = looked_at(events_[next_++])) return event;
  return {};
}

/// nullopt if the event is for no socket that is being watched.
std::optional<HttpSockets::Event> HttpSockets::looked_at(const epoll_event& event) {
  const int socket = socket_of(event.data.u64);
  if (socket == wake_event_.number()) {
    wake_event_.clear();
    return {};
  }
  const Socket& known = at(socket);
  // Otherwise the socket was closed after the kernel reported the event, and its number may have been reused.
  if (known.registered == 0 || known.owner != owner_of(event.data.u64)) return {};
  if (known.wanted == 0) {
    forget(socket);
    return {};
  }
  return Event{known.owner, socket, event.events};
}

}  // namespace laneway::handler
