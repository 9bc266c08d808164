// Whole small files, read once. Regular files only: opening a pipe could wait for ever.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::config {

constexpr std::size_t max_file_bytes = 1 << 20;

/// Kind no_input when the file is not there, not a file or not readable; configuration when it is over
/// max_file_bytes.
Result<std::string> read_file(const std::string& path);

/// The same for a secret, without the newline at its end; kind configuration in every case. A file that
/// everyone may read or write is refused.
Result<std::string> read_secret(const std::string& path);

/// The same for one that goes into an HTTP header: visible ASCII characters without blanks.
Result<std::string> read_token(const std::string& path);
/// A secret that is the value of a header: as before, but blanks are possible.
Result<std::string> read_header_value(const std::string& path);
/// A file with certificates in PEM.
Result<std::string> read_certificates(const std::string& path);

/// What read_secret says of a file that everyone may read or write, for one that is read by somebody else.
/// That it is not there is theirs to say.
Status check_owners_only(const std::string& path);

}  // namespace laneway::config
