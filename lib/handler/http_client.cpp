#include "handler/http_client.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace laneway::handler {
namespace {

Descriptor opened(int number, const char* what) {
  if (number < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(number);
}

void* new_multi() {
  void* multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  return multi;
}

void check(CURLMcode code) {
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLM_OK) throw std::runtime_error(std::string("libcurl: ") + curl_multi_strerror(code));
}

// What epoll gives back: the socket and whose it is.
std::uint64_t tag_of(int socket, std::uint32_t multi) {
  return std::uint64_t{multi} << 32U | static_cast<std::uint32_t>(socket);
}
int socket_of(std::uint64_t tag) { return static_cast<int>(tag & 0xFFFFFFFFU); }
std::uint32_t multi_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 32U); }

constexpr std::uint32_t most_per_multi = 32;  // connections

}  // namespace

/// A multi handle and what it asks for.
class HttpClient::Multi {
 public:
  Multi(int epoll, std::uint32_t place, std::uint32_t most)
      : index(place), connections(most), handle(new_multi()), epoll_(epoll) {
    curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, &Multi::socket);
    curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, &Multi::timer);
    curl_multi_setopt(handle, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
    curl_multi_setopt(handle, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(connections));
  }
  ~Multi() { curl_multi_cleanup(handle); }
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  /// `what`: a set of CURL_CSELECT_*.
  void happened(curl_socket_t socket, int what) {
    int running = 0;
    check(curl_multi_socket_action(handle, socket, what, &running));
  }
  void look_at_timer(TimePoint now) {
    if (!due || now < *due) return;
    due.reset();
    happened(CURL_SOCKET_TIMEOUT, 0);
  }

  const std::uint32_t index;
  const std::uint32_t connections;
  void* const handle;  // CURLM*
  std::uint32_t in_air = 0;
  std::optional<TimePoint> due;  // when libcurl wants to be called

 private:
  static int socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<Multi*>(self)->watch(socket, what);
    return 0;
  }
  static int timer(CURLM*, long wait_ms, void* self) {
    auto& due = static_cast<Multi*>(self)->due;
    due.reset();
    if (wait_ms >= 0) due = SteadyClock::now() + milliseconds(wait_ms);
    return 0;
  }

  void watch(int socket, int what) const {
    if (what == CURL_POLL_REMOVE) {
      // It may be closed already, and then is out.
      ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
      return;
    }
    epoll_event event{};
    event.data.u64 = tag_of(socket, index);
    event.events = ((what & CURL_POLL_IN) != 0 ? static_cast<unsigned>(EPOLLIN) : 0U) |
                   ((what & CURL_POLL_OUT) != 0 ? static_cast<unsigned>(EPOLLOUT) : 0U);
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST)
      ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
  }

  const int epoll_;
};

HttpClient::HttpClient(const HttpEndpoint& endpoint, HttpLimits limits)
    : endpoint_(endpoint),
      limits_(limits),
      epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      event_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag_of(event_.number(), 0);
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, event_.number(), &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

HttpClient::~HttpClient() = default;

/// The first, so that as few connections as possible are at work. has_room() was true.
HttpClient::Multi& HttpClient::multi_with_room() {
  for (const auto& multi : multis_)
    if (multi->in_air < multi->connections) return *multi;
  const auto index = static_cast<std::uint32_t>(multis_.size());
  const auto left = limits_.connections - index * most_per_multi;
  const auto connections = endpoint_.is_tls() ? limits_.connections : std::min(left, most_per_multi);
  multis_.push_back(std::make_unique<Multi>(epoll_.number(), index, connections));
  return *multis_.back();
}

void HttpClient::begin(HttpExchange& exchange, std::string_view body,
                       const std::vector<RequestHeader>& headers) {
  std::unique_ptr<HttpTransfer> transfer;
  if (idle_.empty()) {
    transfer = std::make_unique<HttpTransfer>(endpoint_, connecting_);
  } else {
    transfer = std::move(idle_.back());
    idle_.pop_back();
  }
  curl_easy_setopt(transfer->handle(), CURLOPT_PRIVATE, &exchange);
  transfer->prepare(body, headers);
  Multi& multi = multi_with_room();
  check(curl_multi_add_handle(multi.handle, transfer->handle()));
  exchange.transfer_ = std::move(transfer);
  exchange.multi_ = multi.index;
  ++multi.in_air;
  ++in_air_;
}

std::unique_ptr<HttpTransfer> HttpClient::take_down(HttpExchange& exchange) {
  Multi& multi = *multis_[exchange.multi_];
  curl_multi_remove_handle(multi.handle, exchange.transfer_->handle());
  --multi.in_air;
  --in_air_;
  return std::move(exchange.transfer_);
}

void HttpClient::cancel(HttpExchange& exchange) {
  auto transfer = take_down(exchange);
  transfer->abandon();
  idle_.push_back(std::move(transfer));
}

void HttpClient::wake() noexcept {
  const std::uint64_t one = 1;
  // It can fail only where the event is set already.
  static_cast<void>(::write(event_.number(), &one, sizeof(one)) == 0);
}

void HttpClient::serve(Duration at_most) {
  wait(at_most);
  const auto now = SteadyClock::now();
  for (const auto& multi : multis_) {
    multi->look_at_timer(now);
    conclude_ended(*multi);
  }
}

void HttpClient::wait(Duration at_most) {
  const auto now = SteadyClock::now();
  for (const auto& multi : multis_)
    if (multi->due) at_most = std::clamp(*multi->due - now, Duration::zero(), at_most);
  const auto wait_ms = std::chrono::ceil<milliseconds>(at_most).count();
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(wait_ms));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (socket_of(event.data.u64) == event_.number()) {
      std::uint64_t sum = 0;
      static_cast<void>(::read(event_.number(), &sum, sizeof(sum)) == 0);
      continue;
    }
    const int what = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    multis_[multi_of(event.data.u64)]->happened(socket_of(event.data.u64), what);
  }
}

void HttpClient::conclude_ended(Multi& multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.handle, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* owner = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
    auto& exchange = *reinterpret_cast<HttpExchange*>(owner);
    const int code = message->data.result;
    auto transfer = take_down(exchange);
    const HttpAnswer answer = transfer->conclude(code);
    idle_.push_back(std::move(transfer));
    exchange.answered(answer);
  }
}

}  // namespace laneway::handler
