// What becomes of records when a web service closes the connections that were kept open.
#include <map>
#include <mutex>

#include "eventually.h"
#include "handler/http/http.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

constexpr std::string_view no_content = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// How often each record was sent.
class Sendings {
 public:
  void add(const std::string& request) {
    constexpr std::string_view field = "Kafka-Offset: ";
    std::lock_guard lock(mutex_);
    ++count_[std::stoi(request.substr(request.find(field) + field.size()))];
    all_are_first_ = all_are_first_ && request.find("Laneway-Attempt: 1\r\n") != std::string::npos;
  }
  int of(int offset) {
    std::lock_guard lock(mutex_);
    return count_[offset];
  }
  bool all_are_first_attempts() {
    std::lock_guard lock(mutex_);
    return all_are_first_;
  }

 private:
  std::mutex mutex_;
  std::map<int, int> count_;
  bool all_are_first_ = true;
};

/// Answers the first request of each connection, and reads the next one without an answer.
RawServer once_for_each_connection(Sendings& sendings) {
  return RawServer([&](Connection& connection) {
    for (int i = 0; i < 2; ++i) {
      const auto request = connection.read_request();
      if (request.empty()) return;
      sendings.add(request);
      if (i == 0) connection.write(no_content);
    }
  });
}

}  // namespace

TEST_CASE("an idle connection that the server has closed is replaced without costing an attempt") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.write(no_content);
  });
  const auto handler = made(server.url());
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::done);
  // The server's next accept comes after its close, so this makes sure that the close was before the second
  // request.
  CHECK(outcome_of(*made(server.url()), record_data(1, "v")).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(2, "v")).verdict == Verdict::done);
  CHECK(server.connections() == 3);
}

TEST_CASE("a restarted server that has closed all idle connections costs no record an attempt") {
  constexpr int idle = 8;
  Sendings sendings;
  std::atomic<int> begun{0};
  RawServer server(
      [&](Connection& connection) {
        const bool closes = ++begun <= idle;
        if (connection.read_request().empty()) return;
        if (!eventually([&] { return begun >= idle; })) return;
        connection.write(no_content);
        // The next request is read and not answered, as by a server that is stopped just then.
        for (;;) {
          const auto request = connection.read_request();
          if (request.empty()) return;
          sendings.add(request);
          if (closes) return;
          connection.write(no_content);
        }
      },
      true);
  const auto handler = made(server.url());
  CHECK(Runs(*handler, idle).done() == idle);
  CHECK(Runs(*handler, idle).done() == idle);
  CHECK(sendings.all_are_first_attempts());
}

TEST_CASE("a record is sent on new connections as long as the old ones turn out to be closed") {
  Sendings sendings;
  auto server = once_for_each_connection(sendings);
  const auto handler = made(server.url());
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) {
    auto data = i % 2 == 0 ? record_data(i, {}) : record_data(i, std::string(100'000, 'v'));
    const auto outcome = outcome_of(*handler, std::move(data));
    INFO("record " << i << ": " << outcome.reason);
    CHECK(outcome.verdict == Verdict::done);
    CHECK(sendings.of(i) == (i == 0 ? 1 : 2));
  }
  CHECK(sendings.all_are_first_attempts());
}

TEST_CASE("a request is sent again if its idle connection closes in the middle of a large body") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.write(no_content);
    connection.read_some();
    connection.reset();
  });
  const auto handler = made(server.url());
  const std::string large(3 << 20, 'v');
  for (int i = 0; i < 20; ++i) {
    const auto outcome = outcome_of(*handler, record_data(i, large));
    INFO("record " << i << ": " << outcome.reason);
    CHECK(outcome.verdict == Verdict::done);
  }
}

TEST_CASE("a new connection that is also closed without an answer is a failed call") {
  Sendings sendings;
  std::atomic<bool> answers{true};
  RawServer server([&](Connection& connection) {
    for (;;) {
      const auto request = connection.read_request();
      if (request.empty()) return;
      sendings.add(request);
      if (!answers) return connection.reset();
      connection.write(no_content);
    }
  });
  const auto handler = made(server.url());
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
  answers = false;
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::retry);
  CHECK(sendings.of(1) == 2);
  CHECK(outcome_of(*handler, record_data(2, "v")).verdict == Verdict::retry);
  CHECK(sendings.of(2) == 1);  // there was no idle connection
}

TEST_CASE("a server that closes an idle connection and refuses new ones is unavailable") {
  RawServer server([](Connection& connection) {
    connection.read_request();
    connection.write(no_content);
    connection.read_request();
  });
  const auto handler = made(server.url());
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
  server.refuse();
  const auto outcome = outcome_of(*handler, record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::unavailable);
  CHECK(outcome.reason.starts_with("no connection to 127.0.0.1:"));
}

TEST_CASE("a request is not repeated when its answer has begun") {
  Sendings sendings;
  RawServer server([&](Connection& connection) {
    sendings.add(connection.read_request());
    connection.write(no_content);
    const auto request = connection.read_request();
    if (request.empty()) return;
    sendings.add(request);
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  const auto handler = made(server.url());
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::retry);
  CHECK(sendings.of(1) == 1);
}

TEST_CASE("a request whose answer breaks off in the status line is repeated once, then fails") {
  // No byte of an unfinished status line is reported by libcurl, so the first break looks like a stale
  // connection.
  Sendings sendings;
  RawServer server([&](Connection& connection) {
    auto request = connection.read_request();
    for (; request.find("Kafka-Offset: 0\r\n") != std::string::npos; request = connection.read_request())
      connection.write(no_content);
    if (request.empty()) return;
    sendings.add(request);
    connection.write("HTTP/1.1 2");
  });
  const auto handler = made(server.url());
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done);
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::retry);
  CHECK(sendings.of(1) == 2);
  CHECK(outcome_of(*handler, record_data(2, "v")).verdict == Verdict::retry);
  CHECK(sendings.of(2) == 1);  // there was no idle connection
  CHECK(sendings.all_are_first_attempts());
}
