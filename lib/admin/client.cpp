#include "admin/client.h"

#include <httplib.h>

#include "admin/listener.h"
#include "base/time.h"

namespace laneway::admin {
namespace {

constexpr auto connect_time = seconds(2);
constexpr auto reading_time = seconds(3);    // for requests that a running service answers at once
constexpr auto changing_time = seconds(15);  // a lane may be asked first, or a configuration be read

constexpr auto where_it_listens = "set the service's address with -c FILE or --admin HOST:PORT";

/// `silent`: the whole `waited` has passed, so the connection was not closed either.
Error no_answer(const Endpoint& endpoint, httplib::Error error, seconds waited, bool silent) {
  const std::string from = "no answer from " + endpoint.address;
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
  httplib::Headers headers{{"Host", endpoint.address}, {"X-Laneway", "1"}};
  if (!endpoint.token.empty()) headers.emplace("Authorization", "Bearer " + endpoint.token);
  const auto begun = SteadyClock::now();
  const httplib::Result result = ask_it(client, headers);
  if (!result)
    return no_answer(endpoint, result.error(), answer_time, SteadyClock::now() - begun >= answer_time);
  return Answer{result->status, result->body};
}

}  // namespace

Result<Answer> get(const Endpoint& endpoint, const std::string& path) {
  return ask(endpoint, reading_time, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Get(path, headers);
  });
}

Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json) {
  // A process that is stopped would carry out the change when it continues, long after its user saw that
  // there was no answer. So the client first checks that the process runs.
  if (const auto runs = get(endpoint, "/livez"); !runs) return runs;
  return ask(endpoint, changing_time, [&](httplib::Client& client, const httplib::Headers& headers) {
    return client.Post(path, headers, json, "application/json");
  });
}

}  // namespace laneway::admin
