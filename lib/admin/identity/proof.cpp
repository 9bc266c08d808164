#include "admin/identity/proof.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

namespace laneway::admin {

namespace {

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.append({digits[bytes[i] >> 4], digits[bytes[i] & 15]});
  return text;
}

}  // namespace

std::string new_nonce() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return hexadecimal(random.data(), random.size());
}

std::string digest_of(const std::string& key, const std::vector<std::string_view>& parts) {
  std::string text;
  for (const auto part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size) == nullptr)
    throw std::bad_alloc();
  return hexadecimal(digest.data(), size);
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
