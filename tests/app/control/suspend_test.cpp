// `laneway suspend` from its command line to the commits of a running service, on an embedded cluster.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "admin/server/server.h"
#include "app/command_line.h"
#include "app/exit_code.h"
#include "catch.h"
#include "lane/commit/stored_commit.h"
#include "service/support.h"

using namespace laneway;

namespace {

/// A service with one lane, and the address at which commands reach it.
class Suspending {
 public:
  Suspending() {
    REQUIRE(eventually([&] {
      const auto lanes = service_->snapshot();
      return lanes.size() == 1 && lanes.front().at_work();
    }));
    admin::AdminSources sources;
    sources.token = [] { return std::string(); };
    sources.control = [this](const auto& request) { return service_->control(request); };
    auto server = admin::Server::start("127.0.0.1:0", std::move(sources));
    REQUIRE(server.ok());
    server_ = std::move(server).value();
  }
  ~Suspending() { service::stop_cleanly(*service_); }

  /// Runs the command line `laneway WORDS --admin ADDRESS`, and returns the exit code.
  int laneway(std::vector<std::string> words) const {
    words.insert(words.begin(), "laneway");
    words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(server_->port())});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return app::command_line(static_cast<int>(words.size()), arguments.data());
  }

  bool suspended() const { return service_->snapshot().front().suspended(); }
  /// Whether the commit of the partition has the suspension.
  bool stored() {
    const auto decision = lane::StoredCommit::read(world_.committed().front()).suspension;
    return decision && decision->suspended;
  }

 private:
  service::World world_{1};
  std::unique_ptr<service::Service> service_ = world_.started();
  std::unique_ptr<admin::Server> server_;  // ends first, because it calls the service
};

}  // namespace

TEST_CASE("laneway suspend stores the suspension with the commit, and with --here in the process only") {
  Suspending on;
  CHECK(on.laneway({"suspend", "orders"}) == app::exit_code::done);
  REQUIRE(eventually([&] { return on.suspended(); }));
  CHECK(eventually([&] { return on.stored(); }));
  CHECK(on.laneway({"resume", "orders"}) == app::exit_code::done);
  REQUIRE(eventually([&] { return !on.suspended() && !on.stored(); }));
  CHECK(on.laneway({"suspend", "orders", "--here"}) == app::exit_code::done);
  REQUIRE(eventually([&] { return on.suspended(); }));
  CHECK_FALSE(on.stored());
}
