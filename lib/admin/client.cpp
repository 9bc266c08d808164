#include "admin/client.h"

#include <httplib.h>
#include <netdb.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "admin/http/listener.h"
#include "admin/http/own_header.h"
#include "admin/identity/authorization.h"
#include "base/outside_json.h"
#include "base/time.h"

namespace laneway::admin {
namespace {

constexpr auto connect_time = seconds(2);
constexpr auto reading_time = seconds(3);    // for requests that a running service answers at once
constexpr auto changing_time = seconds(15);  // a lane may be asked first, or a configuration be read

constexpr auto where_it_listens = "set the service's address with -c FILE or --admin HOST:PORT";

/// Why the name of the host has no address; nullopt if it has one.
std::optional<std::string> unknown_host(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
  if (code != 0) return ::gai_strerror(code);
  ::freeaddrinfo(list);
  return std::nullopt;
}

Error not_laneway(const std::string& asked) {
  return {ErrorKind::unavailable, asked + " is not a laneway service: its answer has no header " + own_header,
          "give the address of admin.listen with -c FILE or --admin HOST:PORT"};
}

/// `silent`: the whole `waited` has passed, so the connection was not closed either.
Error no_answer(const std::string& asked, const std::string& host, httplib::Error error, seconds waited,
                bool silent) {
  const std::string from = "no answer from " + asked;
  if (const auto why = error == httplib::Error::Connection ? unknown_host(host) : std::nullopt)
    return {ErrorKind::unavailable, from + ": the host name '" + host + "' cannot be resolved: " + *why,
            where_it_listens};
  if (error == httplib::Error::Connection || error == httplib::Error::ConnectionTimeout)
    return {
        ErrorKind::unavailable, from + ": nothing accepts connections there",
        std::string("is the service running? Its log has the line \"admin listening\"; ") + where_it_listens};
  if (error == httplib::Error::Read && silent)
    return {ErrorKind::unavailable,
            from + " within " + std::to_string(waited.count()) +
                " s: the process there accepts connections and does not answer",
            std::string("is the process stopped (`ps` shows state T; `kill -CONT PID` continues it), or does "
                        "another program listen there? ") +
                where_it_listens};
  return {ErrorKind::unavailable, from + ": the connection was closed without an answer",
          std::string("try again; or does another program listen there? ") + where_it_listens};
}

template <class Ask>
Result<Answer> ask(const std::string& asked, seconds answer_time, Ask ask_it) {
  const auto address = address_of(asked);
  if (!address || address->port == 0 || address->last != address->port)
    return Error{ErrorKind::usage, "'" + asked + "' is not HOST:PORT", "such as 127.0.0.1:9644"};
  httplib::Client client(address->host, address->port);
  client.set_connection_timeout(connect_time);
  client.set_read_timeout(answer_time);
  const httplib::Headers headers{{"Host", asked}, {own_header, own_header_value}};
  const auto begun = SteadyClock::now();
  const httplib::Result result = ask_it(client, headers);
  if (!result)
    return no_answer(asked, address->host, result.error(), answer_time,
                     SteadyClock::now() - begun >= answer_time);
  return Answer{result->status, result->body, result->has_header(own_header)};
}

/// nullopt if the body is no identity, nor a status, which has the group as well.
std::optional<Peer> peer_in(const std::string& body, const std::string& token, const std::string& nonce) {
  try {
    const auto json = parse_outside_json(body);
    Peer peer;
    peer.identity = {json.at("group").get<std::string>(), json.value("file", "")};
    peer.challenge = json.value("challenge", "");
    peer.proven =
        !token.empty() && !peer.challenge.empty() &&
        same_secret(service_proof(token, nonce, peer.challenge, peer.identity), json.value("proof", ""));
    return peer;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

/// Why a program that did not show that it knows the token gets nothing.
Error no_proof(const Endpoint& endpoint, const Peer& peer) {
  if (peer.older)
    return {ErrorKind::unavailable,
            "the service at " + endpoint.address +
                " is of an older version, which cannot show that it knows the token; nothing was sent",
            "restart the service with this version, or use the laneway of its version"};
  return {ErrorKind::unavailable,
          "the program at " + endpoint.address + " did not show that it knows the token; nothing was sent",
          "if it is the service, its token is another one, or it has none: check admin.token_file; on SIGHUP "
          "the service reads the file again"};
}

}  // namespace

std::string address_in(std::string url) {
  if (url.starts_with("http://")) url.erase(0, 7);
  if (const auto path = url.find('/'); path != std::string::npos && !url.starts_with("https:"))
    url.erase(path);
  return url;
}

Result<Answer> get(const std::string& address, const std::string& path) {
  return ask(address, reading_time, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Get(path, headers);
  });
}

Result<Peer> meet(const Endpoint& endpoint) {
  const auto nonce = new_nonce();
  auto answer = get(endpoint.address, identity_path + ("?nonce=" + nonce));
  if (!answer) return answer.error();
  if (!answer->from_laneway) return not_laneway(endpoint.address);
  const bool older = answer->status == 404;
  if (older) answer = get(endpoint.address, "/status");
  if (!answer) return answer.error();
  if (answer->status / 100 == 5)
    return Error{ErrorKind::unavailable,
                 "the service at " + endpoint.address + " answered " + std::to_string(answer->status) + ": " +
                     answer->body.substr(0, answer->body.find('\n')),
                 "try again"};
  auto peer = peer_in(answer->body, endpoint.token, nonce);
  if (!peer || !answer->from_laneway) return not_laneway(endpoint.address);
  peer->older = older;
  return *std::move(peer);
}

Result<Answer> post(const Endpoint& endpoint, const Peer& peer, const Change& change) {
  const bool secret = !endpoint.token.empty();
  if (secret && !peer.proven) return no_proof(endpoint, peer);
  auto answer = ask(endpoint.address, changing_time, [&](httplib::Client& client, httplib::Headers headers) {
    if (secret)
      headers.emplace("Authorization",
                      std::string(proof_scheme) + peer.challenge + ' ' +
                          change_proof(endpoint.token, peer.challenge, change, peer.identity));
    return client.Post(httplib::append_query_params(change.path, change.parameters), headers, std::string(),
                       "application/json");
  });
  if (answer && !answer->from_laneway) return not_laneway(endpoint.address);
  return answer;
}

}  // namespace laneway::admin
