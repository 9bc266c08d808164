#include "admin/server/server.h"

#include <httplib.h>
#include <pthread.h>

#include <vector>

#include "catch.h"
#include "eventually.h"
#include "server_support.h"

using namespace laneway;
using namespace laneway::admin;

TEST_CASE("a request that is too large, or is not a request, is refused, and the server goes on") {
  Limits limits;
  limits.reception.each.request_time = milliseconds(500);  // of those that are not whole
  const auto server = started(sources(), limits);
  const std::string large(100000, 'a');
  std::string ranges;
  while (ranges.size() < 8000) ranges += "1-1,";
  const std::vector<std::string> requests = {
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Large: " + large + "\r\n\r\n",
      "GET /metrics?" + large + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
      large,
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "\x16\x03\x01\x02" + std::string(1, '\0') + "\x01\n\n",
      "GET /metrics HTTP/1.1\r\nno colon here\r\n" + large,
      "GET /nothing HTTP/1.1\r\nHost: localhost\r\nRange: bytes=" + ranges + "\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Length: "
      "99999999999999999999999\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Length: -1\r\n\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nTransfer-Encoding: chunked"
      "\r\n\r\nffffffffffffffffffff\r\n",
      "POST /lanes/a/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\nContent-Type: "
      "multipart/form-data; boundary=" +
          std::string(4000, 'x') + "\r\nContent-Length: 9\r\n\r\n123456789",
      std::string(20, '\0') + "\r\n\r\n",
  };
  for (const auto& request : requests) {
    const auto answer = RawClient(*server).exchange(request);
    const auto status = status_of(answer);
    INFO(request.substr(0, 40));
    CHECK((status == 0 || (status >= 400 && status < 500)));
    if (status != 0) CHECK_THAT(answer, Catch::Contains("\r\nX-Laneway: 1\r\n"));
  }
  std::string many = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 5000; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  CHECK(status_of(RawClient(*server).exchange(many + "\r\n")) != 200);
  CHECK(eventually([&] { return serves(*server); }));
}

TEST_CASE("a request that is too large, late or unreadable is refused with the reason") {
  const auto told_within = [](Duration request_time, const std::string& request, int status,
                              const std::string& words) {
    Limits limits;
    limits.reception.each.request_time = request_time;
    const auto server = started(sources(), limits);
    const auto answer = RawClient(*server).exchange(request);
    CHECK(status_of(answer) == status);
    CHECK_THAT(answer, Catch::Contains("\r\n\r\n" + words));
  };
  const auto told = [&](const std::string& request, int status, const std::string& words) {
    told_within(std::chrono::hours(1), request, status, words);
  };
  const std::string post = "POST /lanes/orders/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n";
  told("GET /livez HTTP/1.1\r\nX-Large: " + std::string(20000, 'a'), 431, "the request is too large");
  told_within(milliseconds(20), "GET /livez HTTP/1.1\r\nHost: local", 408,
              "the request did not arrive in time");
  told("GET /" + std::string(500, 'a') + " HTTP/1.1\r\n\r\n", 414, "the path is too long");
  told(post + "Transfer-Encoding: chunked\r\n\r\n", 411, "a request with a body needs a Content-Length");
  told(post + "Content-Length: x\r\n\r\n", 400, "the Content-Length is not a number");
  told(post + "Content-Type: Multipart/Form-Data; boundary=x\r\nContent-Length: 9\r\n\r\n123456789", 415,
       "multipart forms are not supported");
}

namespace {

/// Threads started in its life have this much; 8 MiB are usual, 2 MiB where the limit is lifted.
class SmallStacks {
 public:
  explicit SmallStacks(std::size_t bytes) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, bytes);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
  }
  ~SmallStacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  SmallStacks(const SmallStacks&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace

TEST_CASE("no request needs much stack, whatever its content") {
  const SmallStacks small(1 << 20);
  const auto server = started();
  const auto repeated = [](std::string_view what) {
    std::string text;
    while (text.size() + what.size() < 8000) text += what;
    return text;
  };
  const std::string post = "POST /lanes/orders/0/skip HTTP/1.1\r\nHost: localhost\r\nX-Laneway: 1\r\n";
  const std::string part =
      "--x\r\nContent-Disposition: form-data; name=\"" + repeated("a") + "\"\r\n\r\n1\r\n--x--\r\n";
  for (const std::string& request : {
           "GET /nothing HTTP/1.1\r\nHost: localhost\r\nrange: bytes=" + repeated("1-1,") + "1-1\r\n\r\n",
           "GET /nothing HTTP/1.1\r\nHost: localhost\nRANGE: bytes=" + repeated("1-1,") + "1-1\r\n\r\n",
           "POST /lanes/" + repeated("a/") + " HTTP/1.1\r\nX-Laneway: 1\r\nContent-Length: 1\r\n\r\nx",
           post + "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: " +
               std::to_string(part.size()) + "\r\n\r\n" + part,
       }) {
    INFO(request.substr(0, 60));
    CHECK(status_of(RawClient(*server).exchange(request)) / 100 == 4);
  }
  CHECK(serves(*server));
}
