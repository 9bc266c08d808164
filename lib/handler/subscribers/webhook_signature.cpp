#include "handler/subscribers/webhook_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <new>

#include "base/base64.h"
#include "handler/format/delivery_id.h"

namespace laneway::handler {
namespace {

std::string hmac_sha256(const std::string& key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), digest.data(),
           &size) == nullptr)
    throw std::bad_alloc();
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

std::string webhook_id(const Attempt& attempt) {
  std::string id;
  append_delivery_id(id, attempt);
  for (auto dot = id.find('.'); dot != id.npos; dot = id.find('.', dot)) id.replace(dot, 1, "%2E");
  return id;
}

std::string webhook_signature(const std::vector<std::string>& secrets, std::string_view id,
                              std::int64_t timestamp, std::string_view body) {
  std::string content;
  content.reserve(id.size() + body.size() + 24);
  content.append(id).append(".").append(std::to_string(timestamp)).append(".").append(body);
  std::string signatures;
  for (const auto& secret : secrets) {
    if (!signatures.empty()) signatures += ' ';
    signatures += "v1," + base64(hmac_sha256(secret, content));
  }
  return signatures;
}

}  // namespace laneway::handler
