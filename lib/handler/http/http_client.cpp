#include "handler/http/http_client.h"

#include <curl/curl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "curl/url.h"

namespace laneway::handler {
namespace {

void* new_multi() {
  void* multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  return multi;
}

void check(CURLMcode code) {
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLM_OK) throw std::runtime_error(std::string("libcurl: ") + curl_multi_strerror(code));
}

constexpr std::uint32_t most_per_multi = 32;  // connections
constexpr Duration make_do_time = seconds(1);

}  // namespace

/// A multi handle and the time of its next call.
class HttpClient::Multi {
 public:
  Multi(HttpSockets& sockets, std::uint32_t place, std::uint32_t most)
      : index(place), connections(most), handle(new_multi()), sockets_(sockets) {
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

  void happened(const HttpSockets::Event& event) {
    act(event.socket, ((event.what & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                          ((event.what & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                          ((event.what & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
  }
  /// Continues the work that need not wait for a socket.
  void go_on() { act(CURL_SOCKET_TIMEOUT, 0); }

  const std::uint32_t index;
  const std::uint32_t connections;
  void* const handle;  // CURLM*
  std::uint32_t in_air = 0;
  std::optional<TimePoint> due;  // the time at which libcurl must be called

 private:
  void act(curl_socket_t socket, int what) {
    int running = 0;
    check(curl_multi_socket_action(handle, socket, what, &running));
  }

  static int socket(CURL*, curl_socket_t socket, int what, void* self_pointer, void*) {
    auto& self = *static_cast<Multi*>(self_pointer);
    std::uint32_t wanted = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
    self.sockets_.watch(socket, self.index, wanted);
    return 0;
  }
  static int timer(CURLM*, long wait_ms, void* self) {
    auto& due = static_cast<Multi*>(self)->due;
    due.reset();
    if (wait_ms >= 0) due = SteadyClock::now() + milliseconds(wait_ms);
    return 0;
  }

  HttpSockets& sockets_;
};

HttpClient::HttpClient(const HttpEndpoint& endpoint, HttpLimits limits)
    : endpoint_(endpoint), limits_(limits), most_in_air_(limits.connections) {}

HttpClient::~HttpClient() = default;

/// The first multi handle with room, so that as few connections as possible are in use. has_room() must be
/// true.
HttpClient::Multi& HttpClient::multi_with_room() {
  for (const auto& multi : multis_)
    if (multi->in_air < multi->connections) return *multi;
  const auto index = static_cast<std::uint32_t>(multis_.size());
  const auto left = limits_.connections - index * most_per_multi;
  const auto connections = curl::is_tls(endpoint_.url) ? limits_.connections : std::min(left, most_per_multi);
  multis_.push_back(std::make_unique<Multi>(sockets_, index, connections));
  return *multis_.back();
}

void HttpClient::begin(HttpExchange& exchange, const std::string& url, std::string_view body,
                       const RequestHeaders& headers) {
  std::unique_ptr<HttpTransfer> transfer;
  if (idle_.empty()) {
    transfer = std::make_unique<HttpTransfer>(endpoint_, connecting_, sockets_);
  } else {
    transfer = std::move(idle_.back());
    idle_.pop_back();
  }
  curl_easy_setopt(transfer->handle(), CURLOPT_PRIVATE, &exchange);
  transfer->prepare(url, body, headers);
  put_up(exchange, std::move(transfer));
}

void HttpClient::put_up(HttpExchange& exchange, std::unique_ptr<HttpTransfer> transfer) {
  Multi& multi = multi_with_room();
  check(curl_multi_add_handle(multi.handle, transfer->handle()));
  exchange.transfer_ = std::move(transfer);
  exchange.multi_ = multi.index;
  begun_.push_back(&multi);
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

HttpAnswer HttpClient::time_out(HttpExchange& exchange) {
  auto transfer = take_down(exchange);
  auto answer = transfer->time_out(endpoint_.timeout);
  idle_.push_back(std::move(transfer));
  return answer;
}

void HttpClient::serve(Duration at_most) {
  send_begun();
  const bool may_wait = touched_.empty() && !sockets_.has_more();
  if (const auto event = sockets_.next(may_wait ? until_timer(at_most) : Duration::zero())) {
    Multi& multi = *multis_[event->owner];
    multi.happened(*event);
    touched_.push_back(&multi);
  }
  if (!sockets_.has_more()) look_at_timers();
  conclude_ended();
}

void HttpClient::send_begun() {
  for (Multi* multi : begun_) {
    multi->go_on();
    touched_.push_back(multi);
  }
  begun_.clear();
}

Duration HttpClient::until_timer(Duration at_most) const {
  const auto now = SteadyClock::now();
  for (const auto& multi : multis_)
    if (multi->due) at_most = std::clamp(*multi->due - now, Duration::zero(), at_most);
  return at_most;
}

/// Limits the requests in flight to the existing connections.
void HttpClient::make_do() {
  most_in_air_ = std::max(in_air_, 1U);
  made_do_at_ = SteadyClock::now();
}

void HttpClient::look_at_timers() {
  const auto now = SteadyClock::now();
  if (most_in_air_ < limits_.connections && now >= made_do_at_ + make_do_time)
    most_in_air_ = limits_.connections;
  for (const auto& multi : multis_) {
    if (!multi->due || now < *multi->due) continue;
    multi->due.reset();
    multi->go_on();
    touched_.push_back(multi.get());
  }
}

void HttpClient::conclude_ended() {
  for (Multi* multi : touched_) conclude_ended(*multi);
  touched_.clear();
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
    if (transfer->prepare_again(code)) {
      put_up(exchange, std::move(transfer));
      continue;
    }
    const HttpAnswer answer = transfer->conclude(code);
    if (answer.transport == Transport::no_resources) make_do();
    idle_.push_back(std::move(transfer));
    exchange.answered(answer);
  }
}

}  // namespace laneway::handler
