// A web service that does nothing, as cheaply as it can: answers each POST with an empty 200, at once or
// after `--delay` milliseconds (`--vary 0.2`: after 0.8 to 1.2 of them), or for the first `--outage` seconds
// after the first request with a 503. With `--capacity` so many requests are at work at once, and the others
// wait in the order of their arrival; with `--refuse` they get a 429 instead. With `--failing 0.04` that
// share of the requests gets a 503 at once, as if one instance of 25 were broken. One thread, keep-alive,
// requests with Content-Length only.
//
// Prints its port and ends when its standard input does. A line `capacity N` there changes the capacity; the
// program prints the microseconds since its start then. `--journal` writes two 32-bit numbers for each
// answer, except those 429s and 503s: the microseconds since the start, and the microseconds since the
// request was read.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view refused = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
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

struct Options {
  double delay_ms = 0;
  double vary = 0;  // share of the delay
  double outage_s = 0;
  std::size_t capacity = 0;  // 0: no limit
  bool refuse = false;
  double failing = 0;  // share of the requests
  std::string journal;
};

class Server {
 public:
  explicit Server(const Options& options)
      : options_(options),
        capacity_(options.capacity),
        epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        timer_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
        listener_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")) {
    if (!options.journal.empty()) journal_.open(options.journal, std::ios::binary);
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
        if (socket == STDIN_FILENO) {
          if (!obey()) return;
        } else if (socket == listener_) {
          accept_all();
        } else if (socket == timer_) {
          answer_due();
        } else {
          read(socket);
        }
      }
    }
  }

 private:
  struct Request {
    Clock::time_point read;
    int socket;
  };
  struct Due {
    Clock::time_point at;
    Request request;
    bool operator>(const Due& other) const { return at > other.at; }
  };

  /// Whether standard input goes on.
  bool obey() {
    std::array<char, 256> buffer;
    const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count <= 0) return false;
    orders_.append(buffer.data(), static_cast<std::size_t>(count));
    constexpr std::string_view capacity = "capacity ";
    for (auto end = orders_.find('\n'); end != std::string::npos; end = orders_.find('\n')) {
      if (orders_.starts_with(capacity)) {
        capacity_ = std::strtoul(orders_.c_str() + capacity.size(), nullptr, 10);
        admit();
        std::cout << since_start(Clock::now()) << std::endl;
      }
      orders_.erase(0, end + 1);
    }
    return true;
  }

  std::uint32_t since_start(Clock::time_point time) const { return microseconds_of(time - start_); }
  static std::uint32_t microseconds_of(Clock::duration time) {
    return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  }

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
      if (options_.delay_ms == 0) {
        send_answer({Clock::now(), socket});
      } else if (options_.failing > 0 && std::uniform_real_distribution<>()(random_) < options_.failing) {
        send(socket, out);
      } else if (options_.refuse && capacity_ > 0 && due_.size() >= capacity_) {
        send(socket, refused);
      } else {
        waiting_.push_back({Clock::now(), socket});
        admit();
      }
    }
  }

  /// Begins to work on the requests that there is room for.
  void admit() {
    const auto before = due_.empty() ? Clock::time_point::max() : due_.top().at;
    while (!waiting_.empty() && (capacity_ == 0 || due_.size() < capacity_)) {
      due_.push({Clock::now() + delay(), waiting_.front()});
      waiting_.pop_front();
    }
    if (!due_.empty() && due_.top().at < before) set_timer();
  }

  Clock::duration delay() {
    const auto share = std::uniform_real_distribution<>(1 - options_.vary, 1 + options_.vary)(random_);
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::milli>(options_.delay_ms * share));
  }

  /// To the connections that are still there; the number of one that is not may be another's by now, which
  /// can be answered too early then, in a benchmark that fails anyway.
  void answer_due() {
    std::uint64_t times = 0;
    static_cast<void>(::read(timer_, &times, sizeof(times)) == 0);
    const auto now = Clock::now();
    while (!due_.empty() && due_.top().at <= now) {
      const auto request = due_.top().request;
      due_.pop();
      if (unread_.contains(request.socket)) send_answer(request);
      admit();
    }
    if (!due_.empty()) set_timer();
  }

  /// For the next answer.
  void set_timer() {
    const auto after = std::chrono::duration_cast<std::chrono::nanoseconds>(due_.top().at - Clock::now());
    const auto wait = std::max<std::int64_t>(after.count(), 1);  // 0 would switch it off
    itimerspec when{};
    when.it_value.tv_sec = wait / 1'000'000'000;
    when.it_value.tv_nsec = wait % 1'000'000'000;
    checked(::timerfd_settime(timer_, 0, &when, nullptr), "timerfd_settime");
  }

  /// What cannot be sent now was not read by a client that has other answers unread: none of ours.
  static void send(int socket, std::string_view text) {
    static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == 0);
  }

  void send_answer(const Request& request) {
    send(request.socket, options_.outage_s > 0 && is_out() ? out : answer);
    if (!journal_.is_open()) return;
    const auto now = Clock::now();
    const std::array entry{since_start(now), microseconds_of(now - request.read)};
    journal_.write(reinterpret_cast<const char*>(entry.data()), sizeof entry);
  }

  bool is_out() {
    const auto now = Clock::now();
    if (!first_) first_ = now;
    return now < *first_ + std::chrono::duration<double>(options_.outage_s);
  }

  const Options options_;
  const Clock::time_point start_ = Clock::now();
  std::size_t capacity_;
  std::optional<Clock::time_point> first_;  // answer
  const int epoll_;
  const int timer_;
  const int listener_;
  std::unordered_map<int, std::string> unread_;                     // by connection
  std::deque<Request> waiting_;                                     // for a place at work
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // at work
  std::mt19937 random_{42};
  std::string orders_;  // not whole yet
  std::ofstream journal_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A web service that does nothing");
  Options options;
  app.add_option("--delay", options.delay_ms, "milliseconds before an answer")->check(CLI::NonNegativeNumber);
  app.add_option("--vary", options.vary, "share of the delay by which it varies")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--outage", options.outage_s, "seconds of 503, from the first answer on")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--capacity", options.capacity, "requests with a delay at work at once; 0: any number");
  app.add_flag("--refuse", options.refuse, "answers 429 to the requests beyond the capacity");
  app.add_option("--failing", options.failing, "share of the requests that get a 503 at once")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--journal", options.journal, "a file for the time and the latency of each answer");
  CLI11_PARSE(app, argc, argv);
  try {
    Server(options).run();
  } catch (const std::exception& failure) {
    std::cerr << "http_server: " << failure.what() << '\n';
    return 69;
  }
}
