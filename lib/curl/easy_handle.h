// A libcurl easy handle with an owner, and what all requests of this program have in common: http and https
// alone, no signals, the name of the program, and room for the library's words when something fails.
//
// Used by one thread at a time, except initialize(). Nothing blocks but what is done with the handle.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "curl/connection_problem.h"

namespace laneway::curl {

/// Makes the library ready, the first time. From any thread. Error: internal.
Status initialize();

/// For options that take milliseconds: at least 1, because 0 means no limit.
long timeout_ms(Duration timeout);

class EasyHandle {
 public:
  /// Throws std::bad_alloc.
  explicit EasyHandle(const std::string& url);
  ~EasyHandle();
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  /// The authorities that servers are checked by from now on: PEM, which stays where it is; empty: the
  /// system's.
  void trust(const std::string& authorities);

  /// What the library said of a failure since the last clear_error(); may be empty.
  std::string_view error() const { return error_.data(); }
  void clear_error() { error_[0] = '\0'; }
  /// Why there is no connection or no answer, after a CURLcode that is not CURLE_OK.
  std::string problem(int code, ConnectionKeys keys) const;

  void* get() const { return easy_; }  ///< CURL*

 private:
  void* const easy_;  // CURL*
  std::vector<char> error_;
};

}  // namespace laneway::curl
