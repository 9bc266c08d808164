#include "admin/identity/nonce.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace laneway::admin {

std::string new_nonce() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string nonce;
  for (const auto byte : random) {
    nonce += digits[byte >> 4];
    nonce += digits[byte & 15];
  }
  return nonce;
}

}  // namespace laneway::admin
