// Why a broker's certificate is refused, as a sentence that says what to do. Private to this folder. Pure,
// except certificate_in.
#pragma once

#include <string>
#include <string_view>

namespace laneway::kafka {

/// `error`: an error code of OpenSSL (openssl/x509_vfy.h), not 0. `depth`: 0 for the broker's own
/// certificate; otherwise the position of the authority above it. `der`: the certificate that the error is
/// about.
std::string certificate_problem(int error, int depth, std::string_view der);

/// Describes the first certificate in this PEM file: its subject, its issuer, and until when it is valid.
/// Reads the file.
std::string certificate_in(const std::string& file);

}  // namespace laneway::kafka
