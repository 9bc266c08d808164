#include "handler/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>
#include <new>

namespace laneway::handler {
namespace {

constexpr std::size_t longest_answer = 64 * 1024;  // headers and body; the rest is not read
constexpr std::size_t kept_of_body = 1024;
constexpr int slice_ms = 50;  // how late a stop may be seen

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

void append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());
  list.reset(longer);
}

HeaderList header_list(const std::vector<RequestHeader>& headers, const std::string& content_type) {
  HeaderList list;
  append(list, "Content-Type: " + content_type);
  append(list, "Expect:");  // never wait for 100 Continue
  for (const RequestHeader& header : headers) {
    // libcurl's notation: "name:" would take the header out, "name;" sends it empty.
    const bool blank = header.value.find_first_not_of(' ') == std::string::npos;
    append(list, blank ? header.name + ";" : header.name + ": " + header.value);
  }
  return list;
}

/// Value of `line` when it is the header `name`.
std::optional<std::string_view> header_value(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return {};
  if (!curl_strnequal(line.data(), name.data(), name.size())) return {};
  line.remove_prefix(name.size() + 1);
  const auto begin = line.find_first_not_of(" \t");
  const auto end = line.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
}

/// Seconds or an HTTP date (RFC 9110, 10.2.3); nothing when it is neither.
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

}  // namespace

Result<std::string> server_of(const std::string& url) {
  const auto refused = [](const std::string& why) {
    return Error{ErrorKind::configuration, "handler.http.url: " + why,
                 "give a full address, such as http://127.0.0.1:8080/orders"};
  };
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed) throw std::bad_alloc();
  // The URL itself stays out of messages: it may hold a password.
  if (const auto code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0); code != CURLUE_OK)
    return refused(curl_url_strerror(code));
  const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return refused("the scheme is '" + scheme + "'; http or https are possible");
  return part_of(parsed.get(), CURLUPART_HOST) + ":" + part_of(parsed.get(), CURLUPART_PORT);
}

struct HttpClient::Callbacks {
  static std::size_t header(char* data, std::size_t, std::size_t size, void* self_pointer) {
    auto& self = *static_cast<HttpClient*>(self_pointer);
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
    auto& self = *static_cast<HttpClient*>(self_pointer);
    const auto room = kept_of_body - std::min(kept_of_body, self.answer_.body.size());
    self.answer_.body.append(data, std::min(room, size));
    return self.count(size);
  }

  /// Called when a connection is there, before the request goes out on it.
  static int before_sending(void* self_pointer, char*, char*, int, int) {
    auto& self = *static_cast<HttpClient*>(self_pointer);
    return ++self.sendings_ == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }
};

HttpClient::HttpClient(const HttpEndpoint& endpoint)
    : endpoint_(endpoint),
      multi_(curl_multi_init()),
      easy_(curl_easy_init()),
      error_text_(CURL_ERROR_SIZE, '\0') {
  if (multi_ == nullptr || easy_ == nullptr) {
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
    throw std::bad_alloc();
  }
  set_options();
}

HttpClient::~HttpClient() {
  curl_easy_cleanup(easy_);
  curl_multi_cleanup(multi_);
}

void HttpClient::set_options() {
  const auto timeout_ms =
      std::max<long>(1, static_cast<long>(duration_cast<milliseconds>(endpoint_.timeout).count()));
  curl_easy_setopt(easy_, CURLOPT_URL, endpoint_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, "laneway");
  curl_easy_setopt(easy_, CURLOPT_POST, 1L);
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name server
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, timeout_ms);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Callbacks::header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Callbacks::body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &Callbacks::before_sending);
  curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this);
}

std::size_t HttpClient::count(std::size_t bytes) {
  received_ += bytes;
  if (received_ <= longest_answer) return bytes;
  cut_ = true;
  return 0;  // ends the transfer
}

HttpAnswer HttpClient::post(std::string_view body, const std::vector<RequestHeader>& headers,
                            StopToken stop) {
  answer_ = {};
  received_ = 0;
  sendings_ = 0;
  cut_ = false;
  error_text_[0] = '\0';
  const HeaderList list = header_list(headers, endpoint_.content_type);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, list.get());
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  curl_multi_add_handle(multi_, easy_);
  if (!transfer(stop)) answer_.transport = Transport::stopped;
  curl_multi_remove_handle(multi_, easy_);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, nullptr);
  answer_.sent = sendings_ > 0;
  return std::move(answer_);
}

/// False when it was stopped.
bool HttpClient::transfer(StopToken stop) {
  for (;;) {
    int running = 0;
    CURLMcode code = curl_multi_perform(multi_, &running);
    int left = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi_, &left); message != nullptr) {
      conclude(message->data.result);
      return true;
    }
    if (stop.stop_requested()) return false;
    if (code == CURLM_OK) code = curl_multi_poll(multi_, nullptr, 0, slice_ms, nullptr);
    if (code != CURLM_OK) {
      answer_.transport = sendings_ > 0 ? Transport::broken : Transport::not_connected;
      answer_.problem = curl_multi_strerror(code);
      return true;
    }
  }
}

void HttpClient::conclude(int code) {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  answer_.status = static_cast<int>(status);
  answer_.problem =
      error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(static_cast<CURLcode>(code));
  if (code == CURLE_OK || cut_) {
    answer_.transport = Transport::answered;
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    answer_.transport = Transport::timed_out;
  } else if (sendings_ == 0) {
    answer_.transport = Transport::not_connected;
  } else {
    answer_.transport = sendings_ > 1 ? Transport::stale : Transport::broken;
  }
}

}  // namespace laneway::handler
