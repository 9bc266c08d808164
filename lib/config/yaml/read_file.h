// Reads whole small files. Regular files only: opening a pipe could block forever.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::config {

constexpr std::size_t max_file_bytes = 1 << 20;

/// Error: no_input if the file does not exist, is not a regular file or is not readable; configuration if it
/// is larger than max_file_bytes.
Result<std::string> read_file(const std::string& path);

/// The same for a secret, without the newline at the end. Every error is of kind configuration. A file that
/// everyone may read or write is refused.
Result<std::string> read_secret(const std::string& path);

/// The same for a token in an HTTP header: visible ASCII characters without blanks.
Result<std::string> read_token(const std::string& path);
/// The same for the value of an HTTP header, which may contain blanks.
Result<std::string> read_header_value(const std::string& path);
/// A file with certificates in PEM.
Result<std::string> read_certificates(const std::string& path);

/// Refuses a file that everyone may read or write, as read_secret does, for files that a library reads. A
/// missing file is no error here: the library reports it.
Status check_owners_only(const std::string& path);

}  // namespace laneway::config
