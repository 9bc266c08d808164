#include "handler/subscribers/subscriber_file.h"

#include "captured_log.h"
#include "handler/subscribers/subscribers.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

const std::string alone = "- { name: a, url: http://a.example/ }\n";

std::unique_ptr<SubscriberFile> opened(const std::string& path) {
  auto file = SubscriberFile::open(path);
  REQUIRE(file.ok());
  return std::move(file).value();
}

}  // namespace

TEST_CASE("an unknown subscriber is looked for in the file at once") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  CHECK(file->find("a"));
  CHECK_FALSE(file->find("b"));
  folder.write("s.yaml", alone + "- { name: b, url: http://b.example/, enabled: false }\n");
  const auto found = file->find("b");
  REQUIRE(found);
  CHECK_FALSE(found->enabled);
  CHECK(file->current()->size() == 2);
}

TEST_CASE("a file with a mistake changes nothing, and says so until it is right") {
  const CapturedLog log;
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n- { name: c }\n");
  CHECK_FALSE(file->find("b"));
  CHECK(file->find("a"));
  REQUIRE(file->problem());
  CHECK(*file->problem() == path + ":2: the subscriber c has no url");
  CHECK(log.lines({"subscribers not changed", path + ":2"}) == 1);
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n");
  CHECK(file->find("b"));
  CHECK_FALSE(file->find("a"));
  CHECK_FALSE(file->problem());
}

TEST_CASE("a file that is emptied while it is written changes nothing") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  folder.write("s.yaml", "");
  CHECK_FALSE(file->find("b"));  // looks at the file
  CHECK(file->current()->size() == 1);
  CHECK(file->problem());
  folder.write("s.yaml", "[]");
  CHECK_FALSE(file->find("b"));
  CHECK(file->current()->empty());
  CHECK_FALSE(file->problem());
}

TEST_CASE("a subscriber outlives the version of the file that it came from") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  const auto found = file->find("a");
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n");
  REQUIRE(file->find("b"));
  CHECK(found->url == "http://a.example/");
}

TEST_CASE("a file that is gone is a problem, and its subscribers stay") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  std::filesystem::remove(path);
  CHECK_FALSE(file->find("b"));
  CHECK(file->find("a"));
  CHECK(file->problem());
}
