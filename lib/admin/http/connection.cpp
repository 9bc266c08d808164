#include "admin/http/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "admin/http/own_header.h"
#include "admin/http/request_head.h"

namespace laneway::admin {
namespace {

constexpr Duration closing_time = milliseconds(500);
constexpr std::size_t piece = 4096;
constexpr std::size_t most_read_away = 256 * 1024;

bool later(ssize_t count) { return count < 0 && (errno == EAGAIN || errno == EINTR); }

}  // namespace

Connection::Connection(Descriptor socket, const ConnectionLimits& limits, TimePoint now)
    : socket_(std::move(socket)), limits_(limits), deadline_(now + limits.request_time) {}

short Connection::wanted() const {
  if (state_ == State::receiving || state_ == State::closing) return POLLIN;
  return state_ == State::answering ? POLLOUT : 0;
}

void Connection::go_on(TimePoint now) {
  if (state_ == State::receiving)
    receive(now);
  else if (state_ == State::answering)
    send(now);
  else if (state_ == State::closing)
    read_away();
}

void Connection::tick(TimePoint now) {
  if (now < deadline_) return;
  if (state_ == State::receiving)
    refuse("408 Request Timeout", "the request did not arrive in time", now);
  else if (state_ != State::at_work)
    state_ = State::ended;
}

void Connection::receive(TimePoint now) {
  std::array<char, piece> part;
  while (state_ == State::receiving) {
    const auto most = std::min(part.size(), limits_.request_bytes - received_.size());
    const auto count = ::recv(socket_.number(), part.data(), most, 0);
    if (later(count)) return;
    if (count <= 0) {
      state_ = State::ended;
      return;
    }
    received_.append(part.data(), static_cast<std::size_t>(count));
    look_at_request(now);
  }
}

void Connection::look_at_request(TimePoint now) {
  if (whole_ == 0) {
    const auto end = end_of_head(received_, searched_);
    searched_ = received_.size();
    if (!end) {
      if (received_.size() >= limits_.request_bytes)
        refuse("431 Request Header Fields Too Large", "the request is too large", now);
      return;
    }
    const auto head = without_unread_fields(received_, *end);
    const auto body = body_size(std::string_view(received_).substr(0, head));
    if (body.kind == BodySize::Kind::unknown)
      return refuse("411 Length Required", "a request with a body needs a Content-Length", now);
    if (body.kind == BodySize::Kind::wrong)
      return refuse("400 Bad Request",
                    "the Content-Length is not a number, or a header has a blank before its colon", now);
    // Does not wait for a body that is too large: the answer is 413, or the client may not change anything.
    whole_ =
        body.bytes > limits_.request_bytes - std::min(head, limits_.request_bytes) ? head : head + body.bytes;
  }
  if (received_.size() >= whole_) state_ = State::at_work;
}

void Connection::answer(std::string text, TimePoint now) {
  if (state_ == State::ended) return;
  answer_ = std::move(text);
  state_ = State::answering;
  deadline_ = now + limits_.answer_time;
  send(now);
}

void Connection::refuse(const std::string& status, const std::string& text, TimePoint now) {
  answer("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n" +
             own_header + ": " + own_header_value + "\r\nContent-Length: " + std::to_string(text.size() + 1) +
             "\r\n\r\n" + text + '\n',
         now);
}

void Connection::send(TimePoint now) {
  while (unsent() > 0) {
    const auto count = ::send(socket_.number(), answer_.data() + sent_, unsent(), MSG_NOSIGNAL);
    if (later(count)) return;
    if (count < 0) {
      state_ = State::ended;
      return;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  answer_ = {};
  sent_ = 0;
  ::shutdown(socket_.number(), SHUT_WR);
  state_ = State::closing;
  deadline_ = now + closing_time;
}

void Connection::read_away() {
  std::array<char, piece> part;
  while (read_away_ < most_read_away) {
    const auto count = ::recv(socket_.number(), part.data(), part.size(), 0);
    if (later(count)) return;
    if (count <= 0) break;
    read_away_ += static_cast<std::size_t>(count);
  }
  state_ = State::ended;
}

}  // namespace laneway::admin
