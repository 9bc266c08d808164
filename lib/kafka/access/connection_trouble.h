// Why the brokers do not answer one client. Private to this folder.
//
// Threads: `logged` any; the others are called by one at a time. Nothing blocks.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "kafka/types.h"

namespace laneway::kafka {

class ConnectionTrouble {
 public:
  explicit ConnectionTrouble(const ClientSettings& settings);

  /// From the client's error callback.
  void failed(int code, const std::string& words) EXCLUDES(mutex_);
  /// From the client's log callback: only there the library tells that kinit fails, that a token server is
  /// asked again, and newer releases that a listener of another protocol hangs up.
  void logged(const char* facility, const std::string& words) EXCLUDES(mutex_);
  void answered() EXCLUDES(mutex_);

  bool login_refused() const { return code_ == RD_KAFKA_RESP_ERR__AUTHENTICATION; }
  /// `code`: what a question came back with.
  Error no_answer(rd_kafka_resp_err_t code) const EXCLUDES(mutex_);

 private:
  bool no_credentials() const EXCLUDES(mutex_);
  Error no_login() const EXCLUDES(mutex_);

  const std::string bootstrap_;
  const std::string user_;
  const std::string certificate_file_;
  int code_ = RD_KAFKA_RESP_ERR_NO_ERROR;  // the last one since an answer
  std::string words_;
  mutable Mutex mutex_;
  std::string hung_up_ GUARDED_BY(mutex_);
  std::string no_credentials_ GUARDED_BY(mutex_);
};

}  // namespace laneway::kafka
