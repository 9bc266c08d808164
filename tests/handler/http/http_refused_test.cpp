// What the http handler does when the client library takes no request.
#include <curl/curl.h>
#include <dlfcn.h>

#include <atomic>

#include "handler/http/http.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::atomic<int> refusals_left{0};

}  // namespace

/// In the place of libcurl's own, for the whole test program; that one does what is not refused.
extern "C" CURLMcode curl_multi_add_handle(CURLM* multi, CURL* easy) {
  using Function = CURLMcode (*)(CURLM*, CURL*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "curl_multi_add_handle"));
  if (refusals_left.fetch_sub(1) > 0) return CURLM_INTERNAL_ERROR;
  refusals_left = 0;
  return original(multi, easy);
}

TEST_CASE("records whose request the client library refuses are retried, and later records are sent") {
  HttpServer server([](const auto&, auto&) {});
  auto settings = settings_for(server.url());
  for (const auto records : {0U, 3U}) {
    settings.batch.records = records;
    settings.batch.linger = std::chrono::hours(1);
    const auto handler = made(settings);
    refusals_left = records == 0 ? 3 : 1;
    Runs refused(*handler, 3);
    CHECK(refused.done() == 0);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(refused.failure(i).verdict == Verdict::retry);
      CHECK_THAT(refused.failure(i).reason, Catch::Contains("libcurl: "));
    }
    CHECK(Runs(*handler, 3).done() == 3);
  }
}
