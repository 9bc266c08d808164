#include "admin/page.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace laneway::admin {

extern const std::string_view page_document;  // made by page/CMakeLists.txt

namespace {

constexpr std::string_view placeholder = "{{nonce}}";

}  // namespace

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

std::string page(const std::string& nonce) {
  std::string document(page_document);
  for (auto at = document.find(placeholder); at != document.npos; at = document.find(placeholder, at))
    document.replace(at, placeholder.size(), nonce);
  return document;
}

std::string page_policy(const std::string& nonce) {
  return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
         "'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'; trusted-types 'none'";
}

}  // namespace laneway::admin
