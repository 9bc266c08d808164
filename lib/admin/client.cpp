#include "admin/client.h"

#include <httplib.h>

#include "admin/listener.h"
#include "base/time.h"

namespace laneway::admin {
namespace {

constexpr auto connect_time = seconds(2);
constexpr auto answer_time = seconds(15);

const char* words_of(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
    case httplib::Error::ConnectionTimeout:
      return "nothing accepts connections there";
    case httplib::Error::Read:
      return "it took the question and did not answer";
    default:
      return "the connection failed";
  }
}

template <class Ask>
Result<Answer> ask(const Endpoint& endpoint, Ask ask_it) {
  const auto address = address_of(endpoint.address);
  if (!address || address->port == 0)
    return Error{ErrorKind::usage, "'" + endpoint.address + "' is not HOST:PORT", "such as 127.0.0.1:9644"};
  httplib::Client client(address->host, address->port);
  client.set_connection_timeout(connect_time);
  client.set_read_timeout(answer_time);
  httplib::Headers headers{{"Host", endpoint.address}, {"X-Laneway", "1"}};
  if (!endpoint.token.empty()) headers.emplace("Authorization", "Bearer " + endpoint.token);
  const httplib::Result result = ask_it(client, headers);
  if (!result)
    return Error{
        ErrorKind::unavailable, "no answer from " + endpoint.address + ": " + words_of(result.error()),
        "is the service running? -c FILE or --admin HOST:PORT says where it listens; its log has the line "
        "\"admin listening\""};
  return Answer{result->status, result->body};
}

}  // namespace

Result<Answer> get(const Endpoint& endpoint, const std::string& path) {
  return ask(endpoint, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Get(path, headers);
  });
}

Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json) {
  return ask(endpoint, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Post(path, headers, json, "application/json");
  });
}

}  // namespace laneway::admin
