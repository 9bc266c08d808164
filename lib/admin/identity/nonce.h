// Random text that nobody can guess: for the page's policy, and for proofs (proof.h).
#pragma once

#include <string>

namespace laneway::admin {

/// 128 random bits in hexadecimal. Throws std::system_error if the system has none.
std::string new_nonce();

}  // namespace laneway::admin
