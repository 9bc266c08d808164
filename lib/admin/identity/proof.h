// Proofs that somebody knows the token of admin.token_file, without the token itself: HMAC-SHA256 (RFC 2104)
// of what the proof is for, under the token. Pure, except for new_nonce().
//
//   GET /identity?nonce=N   the service answers with its identity, a challenge, and the proof for N
//   POST …                  Authorization: Laneway CHALLENGE PROOF
//
// So laneway's own commands never send the token. A program that only passes both requests on to a service
// learns nothing, and can bring about only what the user wants of the service of this group: the proof of a
// change names the group, the file, the method, the path and all parameters, and its challenge is good for
// one change. The group and the file are in the proof of the service too, so they are the service's own
// words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::admin {

/// Distinguishes a service from others on the same machine.
struct Identity {
  std::string group;
  std::string file;  ///< the absolute path of the configuration; empty if the service has none
};

/// 128 random bits in hexadecimal, which nobody can guess. Throws std::system_error if the system has none.
std::string new_nonce();

/// HMAC-SHA256 under the key, in hexadecimal. The parts cannot run into one another: each follows its length.
std::string digest_of(const std::string& key, const std::vector<std::string_view>& parts);

inline constexpr const char* identity_path = "/identity";
inline constexpr std::string_view proof_scheme = "Laneway ";

/// In hexadecimal. `nonce` is the client's, `challenge` the service's.
std::string service_proof(const std::string& token, const std::string& nonce, const std::string& challenge,
                          const Identity& identity);
/// Of a request without a body; `path` and `parameters` without escapes.
struct Change {
  std::string path;
  std::multimap<std::string, std::string> parameters{};  ///< of the query
};
std::string change_proof(const std::string& token, const std::string& challenge, const Change& change,
                         const Identity& identity);

}  // namespace laneway::admin
