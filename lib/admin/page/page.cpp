#include "admin/page/page.h"

#include <string_view>

namespace laneway::admin {

extern const std::string_view page_document;  // made by page/CMakeLists.txt

namespace {

constexpr std::string_view placeholder = "{{nonce}}";

}  // namespace

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
