// What the configuration says about a collector of spans, from its text to the requests over TLS.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "captured_log.h"
#include "catch.h"
#include "certificate.h"
#include "config/loader.h"
#include "handler/servers.h"
#include "tracing/patient_export.h"
#include "tracing/tracer.h"

using namespace laneway;
using namespace laneway::tracing;

namespace {

/// Takes every request, and keeps it.
class TlsCollector {
 public:
  explicit TlsCollector(const Certificate& certificate) : server_(certificate.x509(), certificate.key()) {
    server_.Post("/v1/traces", [this](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      requests_.push_back(request);
      response.set_content("{}", "application/json");
    });
    port_ = server_.bind();
    REQUIRE(port_ > 0);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~TlsCollector() {
    server_.stop();
    thread_.join();
  }
  TlsCollector(const TlsCollector&) = delete;

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/v1/traces"; }
  std::vector<httplib::Request> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  handler::WithRoom<httplib::SSLServer> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<httplib::Request> requests_;
  std::thread thread_;
};

/// A file with the certificate of an authority.
class AuthorityFile {
 public:
  explicit AuthorityFile(const Certificate& certificate) {
    const int file = ::mkstemp(path_.data());
    REQUIRE(file >= 0);
    ::close(file);
    std::ofstream(path_) << certificate.pem();
  }
  ~AuthorityFile() { ::unlink(path_.c_str()); }
  AuthorityFile(const AuthorityFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/laneway-collector-test-XXXXXX";
};

/// Loads a configuration with these lines below `trace:`, and exports one span with it.
void export_span(const std::string& trace, const std::map<std::string, std::string>& environment) {
  const PatientExport patient;
  const auto loaded = config::load_text(
      "kafka: { bootstrap.servers: h, group.id: g }\ntopics: [t]\nhandler: log\ntrace:\n  sample: 1\n" +
          trace,
      {"f.yaml", {}, environment});
  REQUIRE(config::report(loaded.errors) == "");
  const auto tracer = Tracer::make(*loaded.config);
  REQUIRE(tracer);
  kafka::RecordData data;
  data.topic = "t";
  const auto span = (*tracer)->begin(kafka::Record(data));
  REQUIRE(span);
  const auto now = SteadyClock::now();
  (*tracer)->end(*span, {data.topic, 0, 0, 1, now, now, "success", ""});
}

}  // namespace

TEST_CASE("the headers of the configuration and of the environment reach a collector over TLS") {
  const Certificate authority;
  const AuthorityFile file(authority);
  TlsCollector collector(authority);
  export_span("  otlp: " + collector.url() + "\n  ca_file: " + file.path() +
                  "\n  headers: { Authorization: \"Bearer ${TOKEN}\" }\n",
              {{"TOKEN", "hunter2"}, {"OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%2Cb%20c"}});
  const auto requests = collector.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests.front().get_header_value("Authorization") == "Bearer hunter2");
  CHECK(requests.front().get_header_value("x-tenant") == "a,b c");
}

TEST_CASE("a collector with the certificate of an authority that trace.ca_file does not have gets no span") {
  const Certificate authority, other;
  const AuthorityFile file(other);
  TlsCollector collector(authority);
  const CapturedLog log;
  export_span("  otlp: " + collector.url() + "\n  ca_file: " + file.path() + "\n",
              {{"OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a"}});
  CHECK(collector.requests().empty());
  CHECK(log.lines({"spans not accepted",
                   "its certificate was issued by an authority that is not trusted here", "trace.ca_file"}) ==
        1);
}
