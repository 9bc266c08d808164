// Why a connection to a broker fails because of TLS or the login, as a sentence that says what to do. The
// library itself gives the same text for every certificate that it refuses.
//
// Threads: any. Does not block.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

namespace laneway::kafka {

/// Remembers what is wrong with the certificates that clients of `conf` refuse. Which certificates they
/// refuse does not change.
void note_certificates(rd_kafka_conf_t* conf);

/// A connection to this broker (HOST:PORT) works, so it needs no other protocol: a connection that is cut
/// later is no sign of TLS. Holds for the process.
void note_connection(const std::string& broker);

/// The library's text about a broker. If TLS or the login (login_trouble.h) fails, a sentence of our own
/// precedes the library's text.
std::string explained(const std::string& words);

/// Whether the broker refuses the client's own certificate, or requires a certificate that the client did not
/// send.
bool about_own_certificate(std::string_view words);

}  // namespace laneway::kafka
