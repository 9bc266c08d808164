// The signature of a webhook, after the Standard Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks): HMAC-SHA256 of "ID.TIMESTAMP.BODY", in base64
// after "v1,". With several secrets there are as many signatures, separated by spaces, so that a receiver can
// change its secret while both are valid.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "handler/handler.h"

namespace laneway::handler {

inline constexpr std::string_view webhook_id_header = "webhook-id";
inline constexpr std::string_view webhook_timestamp_header = "webhook-timestamp";
inline constexpr std::string_view webhook_signature_header = "webhook-signature";

/// The delivery id without dots, which separate what is signed: a dot becomes %2E.
std::string webhook_id(const Attempt& attempt);

/// The value of the header webhook-signature; empty without secrets. `secrets`: the bytes of the keys.
/// `timestamp`: of the attempt, in seconds since 1970.
std::string webhook_signature(const std::vector<std::string>& secrets, std::string_view id,
                              std::int64_t timestamp, std::string_view body);

}  // namespace laneway::handler
