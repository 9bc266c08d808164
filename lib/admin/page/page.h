// The web page of the admin port: one document with its style and script, from the parts in page/.
//
// The page requests /status and shows the answer; changes are requested with the token, as by any other
// client. Pure.
#pragma once

#include <string>

namespace laneway::admin {

/// The document whose style and script carry this nonce (proof.h), which is for one answer.
std::string page(const std::string& nonce);

/// The page's Content-Security-Policy: only script and style with the nonce apply, nothing is loaded from
/// elsewhere, requests go only to this server, text cannot become markup, and no other page can frame this
/// page.
std::string page_policy(const std::string& nonce);

}  // namespace laneway::admin
