// Which service a command is for, of several on one machine.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "admin/server/server.h"
#include "app/control/endpoint.h"
#include "catch.h"

using namespace laneway;

namespace {

/// The admin server of a service.
std::unique_ptr<admin::Server> service_of(const std::string& group, const std::string& file) {
  admin::AdminSources sources;
  sources.token = [] { return std::string(); };
  sources.identity = {group, file};
  auto server = admin::Server::start("127.0.0.1:0", std::move(sources));
  REQUIRE(server.ok());
  return std::move(server).value();
}

std::string address_of(const std::unique_ptr<admin::Server>& server) {
  return "127.0.0.1:" + std::to_string(server->port());
}

/// A folder that goes away, with configurations of services.
class Files {
 public:
  Files() {
    std::string pattern = "/tmp/laneway-find-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;

  std::string write(const std::string& name, const std::string& group, const std::string& more = "") const {
    std::ofstream(folder_ + '/' + name) << "kafka: { bootstrap.servers: h, group.id: " << group << " }\n"
                                        << "topics: [orders]\nhandler: log\n"
                                        << more;
    return folder_ + '/' + name;
  }

 private:
  std::string folder_;
};

std::string listening(const std::string& address) { return "admin: { listen: \"" + address + "\" }\n"; }

Result<control::Found> found_for(const std::string& file) {
  config::Source source;
  source.file = file;
  const auto aim = control::aim_of({}, source);
  REQUIRE(aim.ok());
  return control::find(*aim);
}

}  // namespace

TEST_CASE("without options, a command looks for a service at the usual addresses") {
  const auto aim = control::aim_of({}, {});
  REQUIRE(aim.ok());
  REQUIRE(aim->addresses.size() == 16);
  CHECK(aim->addresses.front() == "127.0.0.1:9644");
  CHECK(aim->addresses.back() == "127.0.0.1:9659");
  CHECK(aim->token.empty());
  control::Options options;
  options.token_file = "/nowhere/token";
  CHECK_FALSE(control::aim_of(options, {}).ok());
}

TEST_CASE("a command with a file reaches the service of that group and file, and no other") {
  const Files files;
  const auto a = files.write("a.yaml", "shop"), b = files.write("b.yaml", "stock");
  const auto service = service_of("shop", a);
  files.write("a.yaml", "shop", listening(address_of(service)));
  files.write("b.yaml", "stock", listening(address_of(service)));
  const auto own = found_for(a);
  REQUIRE(own.ok());
  CHECK(own->peer.identity.group == "shop");
  const auto other = found_for(b);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().kind == ErrorKind::unavailable);
  CHECK_THAT(other.error().message, Catch::Contains(b + " (group stock)") && Catch::Contains("group shop") &&
                                        Catch::Contains(a) && Catch::Contains(address_of(service)));
  CHECK_THAT(other.error().hint, Catch::Contains("--admin HOST:PORT"));
  const auto same_group = files.write("c.yaml", "shop", listening(address_of(service)));
  CHECK_FALSE(found_for(same_group).ok());
}

TEST_CASE(
    "a command finds the service of its file even if the environment has the group, brokers and topics") {
  const Files files;
  const auto a = files.write("a.yaml", "shop");
  const auto service = service_of("shop", a);
  const auto partly = [&](const std::string& text) {
    std::ofstream(a) << text << listening(address_of(service));
    return found_for(a);
  };
  CHECK(partly("topics: [orders]\nhandler: log\nkafka: { bootstrap.servers: h }\n").ok());
  CHECK(partly("").ok());
  const auto other = partly("kafka: { group.id: stock }\n");
  REQUIRE_FALSE(other.ok());
  CHECK_THAT(other.error().message, Catch::Contains(a + " (group stock) does not answer"));
  CHECK_THAT(other.error().hint, Catch::Contains("LANEWAY_KAFKA__GROUP_ID"));
}

TEST_CASE("two paths to one file name the same file") {
  const Files files;
  const auto a = files.write("a.yaml", "shop");
  const auto service = service_of("shop", a);
  files.write("a.yaml", "shop", listening(address_of(service)));
  std::filesystem::create_symlink(a, a + ".link");
  CHECK(found_for(a + ".link").ok());
  CHECK(found_for(std::filesystem::relative(a).string()).ok());
}

TEST_CASE("a command finds its own service among several, and chooses no service if two are alike") {
  const Files files;
  const auto a = files.write("a.yaml", "shop"), b = files.write("b.yaml", "stock");
  const auto first = service_of("shop", a), second = service_of("stock", b), third = service_of("stock", b);
  control::Aim aim{{address_of(first), address_of(second)}, "", "stock", b};
  const auto own = control::find(aim);
  REQUIRE(own.ok());
  CHECK(own->endpoint.address == address_of(second));
  aim.addresses.push_back(address_of(third));
  const auto either = control::find(aim);
  REQUIRE_FALSE(either.ok());
  CHECK(either.error().kind == ErrorKind::usage);
  CHECK_THAT(either.error().message,
             Catch::Contains(address_of(second)) && Catch::Contains(address_of(third)));
  CHECK_FALSE(control::find({{address_of(first), address_of(second)}, "", "", ""}).ok());
  CHECK(control::find({{address_of(first), "127.0.0.1:1"}, "", "", ""}).ok());
  CHECK_THAT(control::find({{"127.0.0.1:1"}, "", "", ""}).error().message,
             Catch::StartsWith("no answer from 127.0.0.1:1"));
}
