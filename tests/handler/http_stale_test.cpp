// What becomes of records when a web service closes the connections that were kept open.
#include "eventually.h"
#include "http.h"

using namespace laneway;
using namespace laneway::handler;

TEST_CASE("a record spends one attempt on connections that a restarted server has closed") {
  constexpr int idle = 8;
  constexpr std::string_view accepted = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  std::atomic<int> begun{0};
  RawServer server(
      [&](Connection& connection) {
        const bool closes = ++begun <= idle;
        if (connection.read_request().empty()) return;
        if (!eventually([&] { return begun >= idle; })) return;
        connection.write(accepted);
        // The next request is read and not answered, as by a server that is stopped just then.
        while (!connection.read_request().empty() && !closes) connection.write(accepted);
      },
      true);
  const auto handler = made(server.url());
  CHECK(Runs(*handler, idle).done() == idle);
  const auto first = outcome_of(*handler, record_data(1, "v"));
  CHECK(first.verdict == Verdict::retry);
  CHECK(first.after == Duration::zero());
  CHECK(outcome_of(*handler, record_data(1, "v"), 2).verdict == Verdict::done);
}
