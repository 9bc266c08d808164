#include "admin/identity/proof.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <new>

namespace laneway::admin {

std::string digest_of(const std::string& key, const std::vector<std::string_view>& parts) {
  std::string text;
  for (const auto part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size) == nullptr)
    throw std::bad_alloc();
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 15];
  }
  return hex;
}

std::string service_proof(const std::string& token, const std::string& nonce, const std::string& challenge,
                          const Identity& identity) {
  return digest_of(token, {"laneway service 1", nonce, challenge, identity.group, identity.file});
}

std::string change_proof(const std::string& token, const std::string& challenge, const Change& change,
                         const Identity& identity) {
  std::vector<std::string_view> parts{"laneway change 1", challenge, identity.group,
                                      identity.file,      "POST",    change.path};
  for (const auto& [name, value] : change.parameters) parts.insert(parts.end(), {name, value});
  return digest_of(token, parts);
}

}  // namespace laneway::admin
