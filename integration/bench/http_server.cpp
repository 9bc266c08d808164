// A web service that does nothing, as cheaply as it can: answers each POST with an empty 200, at once or
// after
// `--delay` milliseconds, or for the first `--outage` seconds after the first request with a 503. One thread,
// keep-alive, requests with Content-Length only. Prints its port and ends when its standard input does.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view out = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

/// Bytes of the first request in `bytes`, or 0 while it is not whole.
std::size_t whole_request(std::string_view bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  std::size_t length = 0;
  for (std::size_t line = bytes.find("\r\n"); line < end; line = bytes.find("\r\n", line + 2)) {
    constexpr std::string_view name = "\r\nContent-Length:";
    if (bytes.size() - line < name.size()) break;
    if (::strncasecmp(bytes.data() + line, name.data(), name.size()) == 0)
      length = std::strtoul(bytes.data() + line + name.size(), nullptr, 10);
  }
  return bytes.size() >= end + 4 + length ? end + 4 + length : 0;
}

class Server {
 public:
  Server(std::chrono::microseconds delay, std::chrono::microseconds outage)
      : delay_(delay),
        outage_(outage),
        epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        timer_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
        listener_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    checked(::bind(listener_, generic, length), "bind");
    checked(::listen(listener_, 4096), "listen");
    checked(::getsockname(listener_, generic, &length), "getsockname");
    std::cout << ntohs(address.sin_port) << std::endl;
    for (const int each : {timer_, listener_, STDIN_FILENO}) watch(each);
  }

  /// Until standard input ends.
  void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int socket = events[static_cast<std::size_t>(i)].data.fd;
        if (socket == STDIN_FILENO) return;
        if (socket == listener_)
          accept_all();
        else if (socket == timer_)
          answer_due();
        else
          read(socket);
      }
    }
  }

 private:
  struct Due {
    Clock::time_point at;
    int socket;
  };

  void watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    checked(::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  }

  void accept_all() {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) return;
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      unread_[socket].clear();
      watch(socket);
    }
  }

  void read(int socket) {
    static std::array<char, 64 * 1024> buffer;
    const auto count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      ::close(socket);
      unread_.erase(socket);
      return;
    }
    std::string& unread = unread_[socket];
    unread.append(buffer.data(), static_cast<std::size_t>(count));
    while (const auto size = whole_request(unread)) {
      unread.erase(0, size);
      if (delay_.count() == 0)
        send_answer(socket);
      else
        answer_later(socket);
    }
  }

  void answer_later(int socket) {
    if (due_.empty()) set_timer(delay_);
    due_.push_back({Clock::now() + delay_, socket});
  }

  /// To the connections that are still there; the number of one that is not may be another's by now, which
  /// can be answered too early then, in a benchmark that fails anyway.
  void answer_due() {
    std::uint64_t times = 0;
    static_cast<void>(::read(timer_, &times, sizeof(times)) == 0);
    const auto now = Clock::now();
    while (!due_.empty() && due_.front().at <= now) {
      if (unread_.contains(due_.front().socket)) send_answer(due_.front().socket);
      due_.pop_front();
    }
    if (!due_.empty())
      set_timer(std::chrono::duration_cast<std::chrono::microseconds>(due_.front().at - now));
  }

  void set_timer(std::chrono::microseconds after) {
    itimerspec when{};
    when.it_value.tv_sec = after.count() / 1'000'000;
    when.it_value.tv_nsec = after.count() % 1'000'000 * 1000 + 1;  // 0 would switch it off
    checked(::timerfd_settime(timer_, 0, &when, nullptr), "timerfd_settime");
  }

  void send_answer(int socket) {
    const auto text = outage_.count() > 0 && is_out() ? out : answer;
    // What cannot be sent now was not read by a client that has other answers unread: none of ours.
    static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == 0);
  }

  bool is_out() {
    const auto now = Clock::now();
    if (!first_) first_ = now;
    return now < *first_ + outage_;
  }

  const std::chrono::microseconds delay_;
  const std::chrono::microseconds outage_;
  std::optional<Clock::time_point> first_;  // answer
  const int epoll_;
  const int timer_;
  const int listener_;
  std::unordered_map<int, std::string> unread_;  // by connection
  std::deque<Due> due_;                          // in the order of time: the delay is the same for all
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A web service that does nothing");
  double delay_ms = 0, outage_s = 0;
  app.add_option("--delay", delay_ms, "milliseconds before an answer")->check(CLI::NonNegativeNumber);
  app.add_option("--outage", outage_s, "seconds of 503, from the first answer on")
      ->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    Server(std::chrono::microseconds(static_cast<std::int64_t>(delay_ms * 1000)),
           std::chrono::microseconds(static_cast<std::int64_t>(outage_s * 1e6)))
        .run();
  } catch (const std::exception& failure) {
    std::cerr << "http_server: " << failure.what() << '\n';
    return 69;
  }
}
