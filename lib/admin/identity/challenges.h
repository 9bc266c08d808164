// The challenges that this service gives to clients, each good for one change within a minute.
//
// A challenge carries its end and a digest under a key of this process, so the service stores nothing for a
// challenge that it gives: however many clients request challenges, the others stay good. Only used
// challenges are stored, and only a client with the token can use one.
//
// Threads: any. Does not block. Bounded: `most` used challenges in a minute.
#pragma once

#include <map>
#include <string>

#include "admin/identity/proof.h"
#include "base/mutex.h"
#include "base/time.h"

namespace laneway::admin {

class Challenges {
 public:
  /// A new challenge. Throws as new_nonce().
  std::string give(TimePoint now) const;
  /// Whether this service has given the challenge, less than a minute ago.
  bool good(const std::string& challenge, TimePoint now) const;
  /// Uses a good challenge, with a proof that fits. False if it was used before, or if too many were used in
  /// the last minute.
  bool use(const std::string& challenge, TimePoint now) EXCLUDES(mutex_);

  static constexpr std::size_t most = 4096;

 private:
  const std::string key_ = new_nonce() + new_nonce();

  Mutex mutex_;
  std::map<std::string, TimePoint> used_ GUARDED_BY(mutex_);  // each with its end
};

}  // namespace laneway::admin
