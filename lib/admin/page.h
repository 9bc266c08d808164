// The web page of the admin port: one document with its style and script, from the parts in page/.
//
// It asks /status and shows what that says; what changes state it asks as others do, with the token. Pure but
// for the nonce, which is random.
#pragma once

#include <string>

namespace laneway::admin {

/// 128 bits that cannot be guessed, for one answer. Throws std::system_error when the system has none.
std::string new_nonce();

/// The document whose style and script have this nonce.
std::string page(const std::string& nonce);

/// Its Content-Security-Policy: only what has the nonce runs, nothing is loaded from elsewhere, nothing is
/// asked but this server, no markup is made of text, nobody frames it.
std::string page_policy(const std::string& nonce);

}  // namespace laneway::admin
