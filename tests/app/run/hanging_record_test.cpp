// A record that hangs in a claim of several, as an operator sees it: /readyz and /status of a service on an
// embedded cluster.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "admin/client.h"
#include "admin/json/status_json.h"
#include "admin/server/server.h"
#include "catch.h"
#include "service/support.h"

using namespace laneway;

namespace {

constexpr std::int64_t hanging_record = 5;

/// As a fast plugin: a worker gets many records in one call. One record hangs until the gate is opened.
class HangsAtOne final : public handler::RecordHandler {
 public:
  explicit HangsAtOne(service::Gate& gate) : gate_(gate) {}
  std::string name() const override { return "hangs at one"; }
  bool fills_tasks() const override { return true; }
  Duration timeout() const override { return std::chrono::hours(1); }

 private:
  handler::Outcome handle_record(const handler::Attempt& attempt) override {
    if (attempt.record.offset() == hanging_record) gate_.wait();
    return {};
  }
  service::Gate& gate_;
};

/// A service with a lane of 14 records, one of which hangs, and its admin server.
class Hanging {
 public:
  Hanging() {
    world_.config.unnamed.workers = 2;
    world_.config.admin.ready.stall = seconds(1);
    world_.produce(14);
    service_ =
        std::make_unique<service::Service>(world_.config, std::make_unique<HangsAtOne>(gate_), seconds(60));
    REQUIRE(service_->start());
    admin::AdminSources sources;
    sources.ready = [this] { return service_->readiness(); };
    sources.status = [this] { return admin::status_json(service_->status(), "1"); };
    auto server = admin::Server::start("127.0.0.1:0", std::move(sources));
    REQUIRE(server.ok());
    server_ = std::move(server).value();
    waiting_ = std::thread([this] { (void)service_->wait(); });  // which samples for /readyz, too
  }
  ~Hanging() {
    gate_.open();
    service_->stop();
    waiting_.join();
  }
  Hanging(const Hanging&) = delete;

  /// The body of an answer of the admin server.
  std::string answer(const std::string& path) const {
    const auto answer = admin::get("127.0.0.1:" + std::to_string(server_->port()), path);
    return answer ? answer->body : answer.error().text();
  }
  /// The lane in /status.
  nlohmann::json lane() const {
    const auto lanes = nlohmann::json::parse(answer("/status")).at("lanes");
    return lanes.empty() ? nlohmann::json() : lanes.front();
  }

 private:
  service::Gate gate_;
  service::World world_{1};
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<admin::Server> server_;  // ends first, because it calls the service
  std::thread waiting_;
};

}  // namespace

TEST_CASE("/readyz and /status name the one record of a claim that hangs") {
  const Hanging service;
  // All other records are finished: those before it by the committed offset, those after it by the map.
  REQUIRE(eventually([&] {
    const auto lane = service.lane();
    return !lane.is_null() && lane.at("committed") == hanging_record &&
           lane.at("finished_beyond_commit") == 8 && lane.at("in_flight") == 1;
  }));
  const auto oldest = service.lane().at("oldest");
  CHECK(oldest.at("offset") == hanging_record);
  CHECK(oldest.at("place") == "running");
  std::string ready;
  CHECK(eventually([&] { return (ready = service.answer("/readyz")) != "ready\n"; }));
  CHECK_THAT(ready, Catch::Contains("oldest record orders:0:5, "));
}
