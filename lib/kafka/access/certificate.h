// Why a broker's certificate is refused, in words that say what to do. Private to this folder.
// Pure, but for certificate_in.
#pragma once

#include <string>
#include <string_view>

namespace laneway::kafka {

/// `error`: OpenSSL's (openssl/x509_vfy.h), not 0. `depth`: 0 for the broker's own certificate, else how far
/// up its authority is. `der`: the certificate that the error is about.
std::string certificate_problem(int error, int depth, std::string_view der);

/// Whose the first certificate in this PEM file is, who issued it, and until when it is valid. Reads the
/// file.
std::string certificate_in(const std::string& file);

}  // namespace laneway::kafka
