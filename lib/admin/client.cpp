#include "admin/client.h"

#include <httplib.h>
#include <netdb.h>

#include <optional>

#include "admin/listener.h"
#include "admin/own_header.h"
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

Error not_laneway(const Endpoint& endpoint) {
  return {ErrorKind::unavailable,
          endpoint.address + " is not a laneway service: its answer has no header " + own_header,
          "give the address of admin.listen with -c FILE or --admin HOST:PORT"};
}

/// `silent`: the whole `waited` has passed, so the connection was not closed either.
Error no_answer(const Endpoint& endpoint, const std::string& host, httplib::Error error, seconds waited,
                bool silent) {
  const std::string from = "no answer from " + endpoint.address;
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
Result<Answer> ask(const Endpoint& endpoint, seconds answer_time, Ask ask_it) {
  const auto address = address_of(endpoint.address);
  if (!address || address->port == 0)
    return Error{ErrorKind::usage, "'" + endpoint.address + "' is not HOST:PORT", "such as 127.0.0.1:9644"};
  httplib::Client client(address->host, address->port);
  client.set_connection_timeout(connect_time);
  client.set_read_timeout(answer_time);
  httplib::Headers headers{{"Host", endpoint.address}, {own_header, own_header_value}};
  if (!endpoint.token.empty()) headers.emplace("Authorization", "Bearer " + endpoint.token);
  const auto begun = SteadyClock::now();
  const httplib::Result result = ask_it(client, headers);
  if (!result)
    return no_answer(endpoint, address->host, result.error(), answer_time,
                     SteadyClock::now() - begun >= answer_time);
  return Answer{result->status, result->body, result->has_header(own_header)};
}

}  // namespace

std::string address_in(std::string url) {
  if (url.starts_with("http://")) url.erase(0, 7);
  if (const auto path = url.find('/'); path != std::string::npos && !url.starts_with("https:"))
    url.erase(path);
  return url;
}

Result<Answer> get(const Endpoint& endpoint, const std::string& path) {
  return ask(endpoint, reading_time, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Get(path, headers);
  });
}

Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json) {
  // A process that is stopped would carry out the change when it continues, long after its user saw that
  // there was no answer. So the client first checks that the process runs.
  const auto runs = get(endpoint, "/livez");
  if (!runs) return runs;
  if (!runs->from_laneway) return not_laneway(endpoint);
  auto answer = ask(endpoint, changing_time, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Post(path, headers, json, "application/json");
  });
  if (answer && !answer->from_laneway) return not_laneway(endpoint);
  return answer;
}

}  // namespace laneway::admin
