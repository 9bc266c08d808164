#include "kafka/libraries.h"

#include <openssl/crypto.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "kafka/client/client_support.h"

namespace laneway::kafka {

std::vector<Library> libraries() {
  return {{"librdkafka", library_version() + " (" LANEWAY_LIBRDKAFKA ")"},
          {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
          {"nlohmann-json", std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + '.' +
                                std::to_string(NLOHMANN_JSON_VERSION_MINOR) + '.' +
                                std::to_string(NLOHMANN_JSON_VERSION_PATCH)}};
}

bool fetches_by_decompressed_size() { return std::string_view(LANEWAY_LIBRDKAFKA) == "bundled"; }

}  // namespace laneway::kafka
