// Why there is no connection to a broker where TLS or the login is the reason, in words that say what to do.
// The library itself says the same of every certificate that it refuses.
//
// Threads: any. Does not block.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

namespace laneway::kafka {

/// From now on, what is wrong with certificates that clients of `conf` refuse is known. Which ones they
/// refuse does not change.
void note_certificates(rd_kafka_conf_t* conf);

/// The library's words about a broker; where it is TLS or the login (login_trouble.h) that fails, our own
/// before.
std::string explained(const std::string& words);

/// Whether the broker refuses the client's own certificate, or misses one.
bool about_own_certificate(std::string_view words);

}  // namespace laneway::kafka
