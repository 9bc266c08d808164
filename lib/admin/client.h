// A client for laneway's own admin server: for `laneway status` and similar commands.
//
// Threads: any. Blocks while a host name is looked up, then for at most 2 s to connect and 3 s for an answer;
// post() up to 15 s more.
#pragma once

#include <string>

#include "admin/identity/proof.h"
#include "base/result.h"

namespace laneway::admin {

struct Endpoint {
  std::string address;  ///< host:port
  std::string token;    ///< empty if there is none; it is never sent (proof.h)
};

/// Returns "host:port" for "http://host:port/path" and for "host:port". Pure.
std::string address_in(std::string url);

struct Answer {
  int status = 0;
  std::string body;
  bool from_laneway = true;  ///< false: another program has answered
};

/// The service that answers at an address.
struct Peer {
  Identity identity;      ///< a service of an older version does not name its file
  std::string challenge;  ///< for one change; empty if the service has no token, or is older
  bool proven = false;    ///< the service has shown that it knows the endpoint's token
  bool older = false;     ///< of a version that cannot show that
};

/// Errors of these: usage if the address is invalid; unavailable if nothing answers.
Result<Answer> get(const std::string& address, const std::string& path);
/// Which service it is. A program that is not laneway is an error as well: unavailable.
Result<Peer> meet(const Endpoint& endpoint);
/// `peer` is from a meeting just before, and good for one change: a
/// process that does not answer gets no request, which it would carry out when it continues. With a token,
/// nothing is sent to a program that did not show that it knows the token, which is unavailable.
Result<Answer> post(const Endpoint& endpoint, const Peer& peer, const Change& change);

}  // namespace laneway::admin
