#include "admin/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace laneway::admin {
namespace {

constexpr auto linger = milliseconds(500);
constexpr Duration look_around = milliseconds(100);
constexpr std::size_t most_read_away = 256 * 1024;

bool try_again(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

Connection::Connection(Descriptor socket, int stop_event, const ConnectionLimits& limits,
                       const std::atomic<bool>& crowded)
    : socket_(std::move(socket)),
      stop_event_(stop_event),
      limits_(limits),
      crowded_(crowded),
      begun_(SteadyClock::now()),
      deadline_(Deadline::in(limits.request_time)) {}

/// It has not said yet what it wants, and keeps a worker from those who would.
bool Connection::in_the_way() const {
  return !answering_ && crowded_.load(std::memory_order_relaxed) &&
         SteadyClock::now() >= begun_ + limits_.crowded_time;
}

bool Connection::wait_for(short event) const {
  while (!in_the_way()) {
    std::array<pollfd, 2> wanted{{{socket_.number(), event, 0}, {stop_event_, POLLIN, 0}}};
    const auto left = std::chrono::ceil<milliseconds>(std::min(deadline_.left(), look_around));
    const int ready = ::poll(wanted.data(), wanted.size(), static_cast<int>(left.count()));
    if (ready > 0) return wanted[1].revents == 0;
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && deadline_.passed()) return false;
  }
  return false;
}

bool Connection::is_readable() const { return consumed_ < buffered_ || wait_for(POLLIN); }

bool Connection::is_writable() const { return wait_for(POLLOUT); }

ssize_t Connection::read(char* into, std::size_t size) {
  while (consumed_ == buffered_) {
    if (requested_ >= limits_.request_bytes || !wait_for(POLLIN)) return -1;
    const auto most = std::min(buffer_.size(), limits_.request_bytes - requested_);
    const auto count = ::recv(socket_.number(), buffer_.data(), most, 0);
    if (count < 0 && try_again(errno)) continue;
    if (count <= 0) return count;
    consumed_ = 0;
    buffered_ = static_cast<std::size_t>(count);
    requested_ += buffered_;
  }
  const auto part = std::min(size, buffered_ - consumed_);
  std::memcpy(into, buffer_.data() + consumed_, part);
  consumed_ += part;
  return static_cast<ssize_t>(part);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  if (!answering_) {
    answering_ = true;
    deadline_ = Deadline::in(limits_.answer_time);
  }
  while (wait_for(POLLOUT)) {
    const auto count = ::send(socket_.number(), from, size, MSG_NOSIGNAL);
    if (count >= 0 || !try_again(errno)) return count;
  }
  return -1;
}

void Connection::finish() {
  ::shutdown(socket_.number(), SHUT_WR);
  deadline_ = Deadline::in(linger);
  std::size_t read_away = 0;
  while (read_away < most_read_away && wait_for(POLLIN)) {
    const auto count = ::recv(socket_.number(), buffer_.data(), buffer_.size(), 0);
    if (count == 0 || (count < 0 && !try_again(errno))) return;
    if (count > 0) read_away += static_cast<std::size_t>(count);
  }
}

// httplib wants these for its own logs only.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace laneway::admin
