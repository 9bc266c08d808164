// The web page of the admin port: one document with its style and script, from the parts in page/.
//
// The page requests /status and shows the answer; changes are requested with the token, as by any other
// client. Pure except for the nonce, which is random.
#pragma once

#include <string>

namespace laneway::admin {

/// 128 random bits that cannot be guessed, for one answer. Throws std::system_error if the system has none.
std::string new_nonce();

/// The document whose style and script carry this nonce.
std::string page(const std::string& nonce);

/// The page's Content-Security-Policy: only script and style with the nonce apply, nothing is loaded from
/// elsewhere, requests go only to this server, text cannot become markup, and no other page can frame this
/// page.
std::string page_policy(const std::string& nonce);

}  // namespace laneway::admin
