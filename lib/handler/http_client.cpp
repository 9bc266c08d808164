#include "handler/http_client.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
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

}  // namespace

struct HttpClient::Callbacks {
  static int socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<HttpClient*>(self)->watch(socket, what);
    return 0;
  }
  static int timer(CURLM*, long wait_ms, void* self) {
    auto& timer = static_cast<HttpClient*>(self)->timer_;
    timer.reset();
    if (wait_ms >= 0) timer = SteadyClock::now() + milliseconds(wait_ms);
    return 0;
  }
};

HttpClient::HttpClient(const HttpEndpoint& endpoint, std::uint32_t connections)
    : endpoint_(endpoint),
      connections_(connections),
      epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      event_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      multi_(new_multi()) {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Callbacks::socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Callbacks::timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(connections));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = event_.number();
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, event_.number(), &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

HttpClient::~HttpClient() { curl_multi_cleanup(multi_); }

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
  check(curl_multi_add_handle(multi_, transfer->handle()));
  exchange.transfer_ = std::move(transfer);
  ++in_air_;
}

std::unique_ptr<HttpTransfer> HttpClient::take_down(HttpExchange& exchange) {
  curl_multi_remove_handle(multi_, exchange.transfer_->handle());
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
  if (timer_ && SteadyClock::now() >= *timer_) {
    timer_.reset();
    int running = 0;
    check(curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running));
  }
  conclude_ended();
}

void HttpClient::wait(Duration at_most) {
  if (timer_) at_most = std::clamp(*timer_ - SteadyClock::now(), Duration::zero(), at_most);
  const auto wait_ms = std::chrono::ceil<milliseconds>(at_most).count();
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(wait_ms));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == event_.number()) {
      std::uint64_t sum = 0;
      static_cast<void>(::read(event_.number(), &sum, sizeof(sum)) == 0);
      continue;
    }
    const int what = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    int running = 0;
    check(curl_multi_socket_action(multi_, event.data.fd, what, &running));
  }
}

void HttpClient::watch(int socket, int what) {
  if (what == CURL_POLL_REMOVE) {
    // It may be closed already, and then is out.
    ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, socket, nullptr);
    return;
  }
  epoll_event event{};
  event.data.fd = socket;
  event.events = ((what & CURL_POLL_IN) != 0 ? static_cast<unsigned>(EPOLLIN) : 0U) |
                 ((what & CURL_POLL_OUT) != 0 ? static_cast<unsigned>(EPOLLOUT) : 0U);
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST)
    ::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, socket, &event);
}

void HttpClient::conclude_ended() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
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
