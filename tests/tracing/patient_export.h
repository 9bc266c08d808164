// Time for the requests of the span exporter: its own 2 s may be over before a busy machine has answered.
#pragma once

#include <curl/curl.h>
#include <dlfcn.h>

#include <atomic>

#include "eventually.h"

namespace laneway::tracing {

/// In its life they have as long as the machine needs.
class PatientExport {
 public:
  PatientExport() { in_force = true; }
  ~PatientExport() { in_force = false; }
  PatientExport(const PatientExport&) = delete;

  inline static std::atomic<bool> in_force{false};
};

}  // namespace laneway::tracing

/// Stands before libcurl's. Of what works while a PatientExport lives, the exporter alone sends in this way.
extern "C" inline __attribute__((used)) CURLcode curl_easy_perform(CURL* easy) {
  static const auto perform = reinterpret_cast<CURLcode (*)(CURL*)>(::dlsym(RTLD_NEXT, "curl_easy_perform"));
  if (laneway::tracing::PatientExport::in_force) {
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(laneway::patience).count();
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limit));
  }
  return perform(easy);
}
