#include "admin/identity/authorization.h"

#include <strings.h>

#include <string_view>

namespace laneway::admin {
namespace {

constexpr std::string_view scheme = "Bearer ";

bool is_bearer(const std::string& authorization) {
  return authorization.size() > scheme.size() &&
         strncasecmp(authorization.data(), scheme.data(), scheme.size()) == 0;
}

}  // namespace

bool same_secret(const std::string& secret, const std::string& given) {
  unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(expected ^ given[i]);
  }
  return difference == 0 && !secret.empty();
}

std::optional<Refusal> refuse_change(const Access& access, const Credentials& credentials) {
  if (!access.token.empty()) {
    if (is_bearer(credentials.authorization) &&
        same_secret(access.token, credentials.authorization.substr(scheme.size())))
      return std::nullopt;
    return Refusal{401, credentials.authorization.empty()
                            ? "this request needs the token of admin.token_file: Authorization: Bearer TOKEN"
                            : "the token differs from that of admin.token_file"};
  }
  if (!access.loopback)
    return Refusal{
        403, "changes are refused: admin.listen is not a loopback address, and admin.token_file is not set"};
  const bool json = credentials.content_type.starts_with("application/json");
  if (json || !credentials.own_header.empty()) return std::nullopt;
  return Refusal{
      403, "add the header X-Laneway: 1 (it shows that the request does not come from another web page)"};
}

}  // namespace laneway::admin
