#include "handler/http/http_transfer.h"

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

#include "base/shortage.h"
#include "curl/url.h"
#include "handler/http/public_address.h"

namespace laneway::handler {
namespace {

constexpr std::size_t longest_answer =
    64 * 1024;                         // limit of headers and body, unless more is kept; the rest is not read
constexpr int most_sendings = 2;       // sendings of one request
constexpr long receive_buffer = 4096;  // answers are short, and there may be a thousand transfers
constexpr long receive_buffer_of_results = 64 * 1024;

/// The value of `line` if it is the header `name`.
std::optional<std::string_view> header_value(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return {};
  if (!curl_strnequal(line.data(), name.data(), name.size())) return {};
  line.remove_prefix(name.size() + 1);
  const auto begin = line.find_first_not_of(" \t");
  const auto end = line.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
}

/// Parses seconds or an HTTP date (RFC 9110, 10.2.3); nullopt if the value is neither.
std::optional<Duration> parse_retry_after(std::string_view value) {
  constexpr std::int64_t most = 24 * 60 * 60;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (end == value.data() + value.size() && error != std::errc::invalid_argument) {
    if (error == std::errc::result_out_of_range) count = most;
  } else {
    const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
    if (date == -1) return {};
    count = date - std::time(nullptr);
  }
  return seconds(std::clamp<std::int64_t>(count, 0, most));
}

std::string headers_of(const HttpEndpoint& endpoint) {
  RequestHeaders headers;
  headers.add("Content-Type", endpoint.content_type);
  if (!endpoint.authorization.empty()) headers.add("Authorization", endpoint.authorization);
  using namespace std::string_literals;
  return headers.lines() + "Expect:\0"s;  // never wait for 100 Continue
}

}  // namespace

struct HttpTransfer::Callbacks {
  static std::size_t header(char* data, std::size_t, std::size_t size, void* self_pointer) {
    auto& self = *static_cast<HttpTransfer*>(self_pointer);
    const std::string_view line(data, size);
    if (line.starts_with("HTTP/")) {  // a final answer may follow an interim one
      self.answer_.retry_after.reset();
      self.answer_.location.clear();
    }
    if (const auto value = header_value(line, "Retry-After"))
      self.answer_.retry_after = parse_retry_after(*value);
    if (const auto value = header_value(line, "Location")) self.answer_.location = *value;
    return self.count(size);
  }

  static std::size_t body(char* data, std::size_t, std::size_t size, void* self_pointer) {
    auto& self = *static_cast<HttpTransfer*>(self_pointer);
    const auto room = self.kept_of_body_ - self.answer_.body.size();
    self.answer_.body.append(data, std::min(room, size));
    if (size > room) self.answer_.cut = true;
    return self.count(size);
  }

  /// Called when a connection is established, before the request is sent on it.
  static int before_sending(void* self_pointer, char*, char*, int, int) {
    auto& self = *static_cast<HttpTransfer*>(self_pointer);
    self.leave_connecting();
    self.sent_ = true;
    // In case the request is sent again. If one connection carries all requests, one new connection is enough
    // for all.
    if (!self.multiplexes_) curl_easy_setopt(self.easy_.get(), CURLOPT_FRESH_CONNECT, 1L);
    return ++self.sendings_ <= most_sendings ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }

  static curl_socket_t open(void* self_pointer, curlsocktype, curl_sockaddr* address) {
    auto& self = *static_cast<HttpTransfer*>(self_pointer);
    self.enter_connecting();
    if (self.public_only_ && !is_public(address->addr)) {
      self.not_public_ = true;
      return CURL_SOCKET_BAD;
    }
    const int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (socket >= 0)
      self.sockets_.opened(socket);
    else
      self.socket_error_ = errno;
    return socket;
  }

  static int close(void* sockets, curl_socket_t socket) {
    static_cast<HttpSockets*>(sockets)->closed(socket);
    return ::close(socket);
  }
};

HttpTransfer::HttpTransfer(const HttpEndpoint& endpoint, std::uint32_t& connecting, HttpSockets& sockets)
    : first_headers_(headers_of(endpoint)),
      kept_of_body_(endpoint.kept_of_answer),
      reads_answer_(endpoint.reads_answer),
      public_only_(endpoint.public_only),
      connecting_(connecting),
      sockets_(sockets),
      easy_(endpoint.url) {
  set_options(endpoint);
}

HttpTransfer::~HttpTransfer() { leave_connecting(); }

void HttpTransfer::set_options(const HttpEndpoint& endpoint) {
  // HTTP/2 only if TLS negotiates it; then a further stream is preferred to a further connection.
  const bool tls = curl::is_tls(endpoint.url);
  curl_easy_setopt(easy_.get(), CURLOPT_HTTP_VERSION,
                   long{tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy_.get(), CURLOPT_PIPEWAIT, tls ? 1L : 0L);
  easy_.trust(endpoint.ca);
  curl_easy_setopt(easy_.get(), CURLOPT_BUFFERSIZE,
                   endpoint.passes_on ? receive_buffer_of_results : receive_buffer);
  if (endpoint.reads_answer) curl_easy_setopt(easy_.get(), CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(easy_.get(), CURLOPT_POST, 1L);
  curl_easy_setopt(easy_.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_.get(), CURLOPT_QUICK_EXIT, 1L);  // so that a stop does not wait for a name server
  curl_easy_setopt(easy_.get(), CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_.get(), CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // So that each address of a name gets its part of the time. The sender limits the whole time, by its own
  // clock.
  curl_easy_setopt(easy_.get(), CURLOPT_CONNECTTIMEOUT_MS, curl::timeout_ms(endpoint.timeout));
  curl_easy_setopt(easy_.get(), CURLOPT_HEADERFUNCTION, &Callbacks::header);
  curl_easy_setopt(easy_.get(), CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, &Callbacks::body);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_.get(), CURLOPT_PREREQFUNCTION, &Callbacks::before_sending);
  curl_easy_setopt(easy_.get(), CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy_.get(), CURLOPT_OPENSOCKETFUNCTION, &Callbacks::open);
  curl_easy_setopt(easy_.get(), CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy_.get(), CURLOPT_CLOSESOCKETFUNCTION, &Callbacks::close);
  curl_easy_setopt(easy_.get(), CURLOPT_CLOSESOCKETDATA, &sockets_);
}

std::size_t HttpTransfer::count(std::size_t bytes) {
  received_ += bytes;
  if (received_ <= longest_answer + kept_of_body_) return bytes;
  cut_ = answer_.cut = true;
  return 0;  // ends the transfer
}

void HttpTransfer::prepare(const std::string& url, std::string_view body, const RequestHeaders& headers) {
  answer_ = {};
  received_ = 0;
  sendings_ = 0;
  socket_error_ = 0;
  cut_ = not_public_ = false;
  easy_.clear_error();
  if (!url.empty()) curl_easy_setopt(easy_.get(), CURLOPT_URL, url.c_str());
  set_headers(headers);
  curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  curl_easy_setopt(easy_.get(), CURLOPT_FRESH_CONNECT, 0L);
  enter_connecting();
}

bool HttpTransfer::prepare_again(int code) {
  long new_connections = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &new_connections);
  const bool met_closed = sent_ && received_ == 0 && new_connections == 0;
  if (code == CURLE_OK || sendings_ != 1 || !met_closed) return false;
  easy_.clear_error();
  enter_connecting();
  return true;
}

void HttpTransfer::set_headers(const RequestHeaders& headers) {
  header_lines_.assign(first_headers_).append(headers.lines());
  header_list_.clear();
  for (std::size_t begin = 0; begin < header_lines_.size(); begin = header_lines_.find('\0', begin) + 1)
    header_list_.push_back({header_lines_.data() + begin, nullptr});
  for (std::size_t i = 1; i < header_list_.size(); ++i) header_list_[i - 1].next = &header_list_[i];
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, header_list_.data());
}

void HttpTransfer::enter_connecting() {
  sent_ = false;
  if (!std::exchange(counted_, true)) ++connecting_;
}

void HttpTransfer::leave_connecting() {
  if (std::exchange(counted_, false)) --connecting_;
}

HttpAnswer HttpTransfer::time_out(Duration after) {
  leave_connecting();
  answer_.transport = Transport::timed_out;
  answer_.sent = sent_;
  answer_.problem =
      (answer_.sent ? std::to_string(received_) + " bytes received after " : std::string("none after ")) +
      std::to_string(duration_cast<milliseconds>(after).count()) + " ms";
  return std::move(answer_);
}

void HttpTransfer::abandon() { leave_connecting(); }

/// The resource that this process lacked, if nothing was sent for that reason. For name look-ups and files of
/// certificates, libcurl does not report why they failed.
std::optional<std::string> HttpTransfer::shortage(int code) const {
  if (sent_) return std::nullopt;
  if (auto lacks = shortage_of(socket_error_)) return lacks;
  if (auto lacks = shortage_of_files()) return lacks;
  if (code == CURLE_OUT_OF_MEMORY) return shortage_of(ENOMEM);
  if (easy_.error().find("thread failed to start") != std::string_view::npos) return shortage_of(EAGAIN);
  return std::nullopt;
}

HttpAnswer HttpTransfer::conclude(int code) {
  leave_connecting();
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  answer_.status = static_cast<int>(status);
  answer_.sent = sent_;
  char* content_type = nullptr;
  if (reads_answer_) curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &content_type);
  if (content_type != nullptr) answer_.content_type = content_type;
  long version = CURL_HTTP_VERSION_NONE;
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_VERSION, &version);
  if (version != CURL_HTTP_VERSION_NONE) multiplexes_ = version >= CURL_HTTP_VERSION_2_0;
  if (code == CURLE_OK || cut_) return std::move(answer_);
  answer_.problem = easy_.problem(code, http_connection_keys);
  if (code == CURLE_OPERATION_TIMEDOUT) {
    answer_.transport = Transport::timed_out;
  } else if (not_public_ && !sent_) {
    answer_.transport = Transport::refused;
    answer_.problem = "its address is not public; set handler.http.private_addresses to allow it";
  } else if (const auto lacks = shortage(code)) {
    answer_.transport = Transport::no_resources;
    answer_.problem = *lacks;
  } else {
    answer_.transport = sent_ ? Transport::broken : Transport::not_connected;
    if (sendings_ > most_sendings) answer_.problem = "a second connection was also closed before an answer";
  }
  return std::move(answer_);
}

}  // namespace laneway::handler
