#include "admin/identity/proof.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <new>
#include <vector>

namespace laneway::admin {
namespace {

/// Of parts that cannot run into one another: each follows its length.
std::string proof_of(const std::string& token, const std::vector<std::string_view>& parts) {
  std::string text;
  for (const auto part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size) == nullptr)
    throw std::bad_alloc();
  constexpr std::string_view digits = "0123456789abcdef";
  std::string proof;
  for (unsigned i = 0; i < size; ++i) {
    proof += digits[digest[i] >> 4];
    proof += digits[digest[i] & 15];
  }
  return proof;
}

}  // namespace

std::string service_proof(const std::string& token, const std::string& nonce, const std::string& challenge,
                          const Identity& identity) {
  return proof_of(token, {"laneway service 1", nonce, challenge, identity.group, identity.file});
}

std::string change_proof(const std::string& token, const std::string& challenge, const Change& change,
                         const Identity& identity) {
  std::vector<std::string_view> parts{"laneway change 1", challenge, identity.group,
                                      identity.file,      "POST",    change.path};
  for (const auto& [name, value] : change.parameters) parts.insert(parts.end(), {name, value});
  return proof_of(token, parts);
}

}  // namespace laneway::admin
