// TLS 1.2 is the oldest version that this process speaks, as client and as server, in every library that uses
// OpenSSL's defaults (RFC 8996 forbids 1.0 and 1.1).
//
// A newer oldest version in OpenSSL's own configuration (openssl.cnf, MinProtocol) stays, and so do all other
// defaults there; an older one is raised.
#pragma once

#include "base/result.h"

namespace laneway::tls {

/// Takes effect for connections whose context is made afterwards. The first call changes OpenSSL's defaults,
/// so no other thread may make a context meanwhile; further calls do nothing. Reads OpenSSL's configuration.
/// Error: internal.
Status refuse_old_versions();

}  // namespace laneway::tls
