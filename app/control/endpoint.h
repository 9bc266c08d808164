// Which service a command is for: where it listens, the token that it wants, and by what it is told from
// other services of the machine. Reads files; find() asks the services.
#pragma once

#include <string>
#include <vector>

#include "admin/client.h"
#include "app/control/options.h"
#include "config/loader.h"

namespace laneway::control {

/// The service that is meant.
struct Aim {
  std::vector<std::string> addresses;  ///< at least one; the service listens at one of them
  std::string token;                   ///< empty if there is none
  std::string group;                   ///< empty if no configuration has it: any service
  std::string file;                    ///< of the configuration, as it was named
};

/// By --admin, else the configuration if one is named, else where services listen by default. A configuration
/// that is wrong is an error, as everywhere.
Result<Aim> aim_of(const Options& options, const config::Source& source);

struct Found {
  admin::Endpoint endpoint;
  admin::Peer peer;
};

/// The one service at these addresses that has the group and the file of the aim. Errors: usage if several
/// have; unavailable if none has, with those that answered.
Result<Found> find(const Aim& aim);

/// The exit code's kind for an answer that is not 2xx.
Error error_of(const admin::Answer& answer);

}  // namespace laneway::control
