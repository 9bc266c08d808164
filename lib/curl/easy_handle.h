// An owner of a libcurl easy handle, with the settings that all requests of this program share: only http and
// https, no signals, the name of the program, and a buffer for the library's error texts.
//
// Used by one thread at a time, except initialize(). Nothing blocks except operations on the handle.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "curl/connection_problem.h"

namespace laneway::curl {

/// Initializes the library on the first call. From any thread. Error: internal.
Status initialize();

/// The time for options in milliseconds: at least 1, because 0 means no limit.
long timeout_ms(Duration timeout);

class EasyHandle {
 public:
  /// Throws std::bad_alloc.
  explicit EasyHandle(const std::string& url);
  ~EasyHandle();
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  /// Sets the authorities that certificates of servers are verified with: PEM, which must outlive the handle;
  /// empty for the system's.
  void trust(const std::string& authorities);

  /// The library's text about a failure since the last clear_error(); may be empty.
  std::string_view error() const { return error_.data(); }
  void clear_error() { error_[0] = '\0'; }
  /// Why there is no connection or no answer, for a CURLcode that is not CURLE_OK.
  std::string problem(int code, ConnectionKeys keys) const;

  void* get() const { return easy_; }  ///< CURL*

 private:
  void* const easy_;  // CURL*
  std::vector<char> error_;
};

}  // namespace laneway::curl
