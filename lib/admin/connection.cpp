#include "admin/connection.h"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace laneway::admin {
namespace {

constexpr auto linger = milliseconds(500);
constexpr std::size_t piece = 4096;
constexpr Duration look_around = milliseconds(100);
constexpr std::size_t most_read_away = 256 * 1024;

bool try_again(int error) { return error == EINTR || error == EAGAIN; }

/// Takes the lines out of `text` up to `end` that begin with `name`, in any case; the first line is none.
void drop_field(std::string& text, std::size_t end, std::string_view name) {
  for (auto line = text.find('\n') + 1; line < end;) {
    const auto next = text.find('\n', line) + 1;
    if (strncasecmp(text.data() + line, name.data(), name.size()) != 0) {
      line = next;
    } else {
      text.erase(line, next - line);
      end -= next - line;
    }
  }
}

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

bool Connection::is_readable() const { return consumed_ < received_.size() || wait_for(POLLIN); }

bool Connection::is_writable() const { return wait_for(POLLOUT); }

/// More of the request; 0 at its end, -1 when there may or will be no more.
ssize_t Connection::receive() {
  std::array<char, piece> part;
  while (requested_ < limits_.request_bytes && wait_for(POLLIN)) {
    const auto most = std::min(part.size(), limits_.request_bytes - requested_);
    const auto count = ::recv(socket_.number(), part.data(), most, 0);
    if (count < 0 && try_again(errno)) continue;
    if (count > 0) {
      received_.append(part.data(), static_cast<std::size_t>(count));
      requested_ += static_cast<std::size_t>(count);
    }
    return count;
  }
  return -1;
}

Connection::Head Connection::read_head() {
  constexpr std::string_view end = "\n\r\n";
  for (std::size_t searched = 0;;) {
    if (const auto found = received_.find(end, searched); found != received_.npos) {
      drop_field(received_, found + end.size(), "range:");
      return Head::whole;
    }
    searched = received_.size() - std::min(received_.size(), end.size() - 1);
    const auto count = receive();
    if (count == 0) return Head::ended;
    if (count < 0) return requested_ >= limits_.request_bytes ? Head::too_large : Head::late;
  }
}

ssize_t Connection::read(char* into, std::size_t size) {
  if (consumed_ == received_.size()) {
    received_.clear();
    consumed_ = 0;
    if (const auto count = receive(); count <= 0) return count;
  }
  const auto part = std::min(size, received_.size() - consumed_);
  std::memcpy(into, received_.data() + consumed_, part);
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

Descriptor Connection::finish() {
  ::shutdown(socket_.number(), SHUT_WR);
  read_away();
  return std::move(socket_);
}

void Connection::read_away() {
  deadline_ = Deadline::in(linger);
  std::array<char, piece> part;
  std::size_t bytes = 0;
  while (bytes < most_read_away && wait_for(POLLIN)) {
    const auto count = ::recv(socket_.number(), part.data(), part.size(), 0);
    if (count == 0 || (count < 0 && !try_again(errno))) return;
    if (count > 0) bytes += static_cast<std::size_t>(count);
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
