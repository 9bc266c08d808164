// Why the brokers do not answer one client. Private to this folder.
//
// Threads: any for `logged`; the other methods are called by one thread at a time. Nothing blocks.
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

  /// Called by the client's error callback.
  void failed(int code, const std::string& words) EXCLUDES(mutex_);
  /// Called by the client's log callback. Some trouble appears only in the log: that kinit fails, that the
  /// client asks a token server again, and, in newer releases, that a listener of another protocol closes the
  /// connection.
  void logged(const char* facility, const std::string& words) EXCLUDES(mutex_);
  void answered() EXCLUDES(mutex_);

  bool login_refused() const { return code_ == RD_KAFKA_RESP_ERR__AUTHENTICATION; }
  /// The error to report for a question that ended with `code`.
  Error no_answer(rd_kafka_resp_err_t code) const EXCLUDES(mutex_);

 private:
  bool no_credentials() const EXCLUDES(mutex_);
  Error no_login() const EXCLUDES(mutex_);

  const std::string bootstrap_;
  const std::string user_;
  const std::string certificate_file_;
  int code_ = RD_KAFKA_RESP_ERR_NO_ERROR;  // the last error since an answer came
  std::string words_;
  mutable Mutex mutex_;
  std::string hung_up_ GUARDED_BY(mutex_);
  std::string no_credentials_ GUARDED_BY(mutex_);
};

}  // namespace laneway::kafka
