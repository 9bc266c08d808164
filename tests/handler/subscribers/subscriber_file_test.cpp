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

TEST_CASE("the file is read at once for an unknown subscriber") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  CHECK(file->find("a").subscriber);
  CHECK_FALSE(file->find("b").subscriber);
  folder.write("s.yaml", alone + "- { name: b, url: http://b.example/, enabled: false }\n");
  const auto found = file->find("b").subscriber;
  REQUIRE(found);
  CHECK_FALSE(found->enabled);
  CHECK(file->current()->size() == 2);
}

TEST_CASE("a subscriber is enabled as soon as the file enables the subscriber") {
  const CapturedLog log;
  const SubscriberFolder folder;
  const std::string off = "- { name: a, url: http://a.example/, enabled: false }\n";
  const auto path = folder.write("s.yaml", off);
  const auto file = opened(path);
  CHECK_FALSE(file->find("a").subscriber->enabled);
  folder.write("s.yaml", alone);
  CHECK(file->find("a").subscriber->enabled);
  folder.write("s.yaml", off);
  CHECK_FALSE(file->find("b").subscriber);  // looks at the file
  CHECK(log.lines({"subscribers read"}) == 2);
  for (int again = 0; again < 3; ++again) CHECK_FALSE(file->find("a").subscriber->enabled);
  CHECK(log.lines({"subscribers read"}) == 2);  // an unchanged file is not read
}

TEST_CASE("a file with a mistake changes nothing, and is reported until it is correct") {
  const CapturedLog log;
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n- { name: c }\n");
  CHECK_FALSE(file->find("b").subscriber);
  CHECK(file->find("a").subscriber);
  const auto problem = file->find("b").problem;
  REQUIRE(problem);
  CHECK(*problem == path + ":2: the subscriber c has no url");
  CHECK(log.lines({"subscribers not changed", path + ":2"}) == 1);
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n");
  CHECK(file->find("b").subscriber);
  CHECK_FALSE(file->find("a").subscriber);
  CHECK_FALSE(file->find("b").problem);
}

TEST_CASE("a file that is empty while it is being written changes nothing") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  folder.write("s.yaml", "");
  CHECK_FALSE(file->find("b").subscriber);  // looks at the file
  CHECK(file->current()->size() == 1);
  CHECK(file->find("b").problem);
  folder.write("s.yaml", "[]");
  CHECK_FALSE(file->find("b").subscriber);
  CHECK(file->current()->empty());
  CHECK_FALSE(file->find("b").problem);
}

TEST_CASE("a subscriber outlives the version of its file") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  const auto found = file->find("a").subscriber;
  folder.write("s.yaml", "- { name: b, url: http://b.example/ }\n");
  REQUIRE(file->find("b").subscriber);
  CHECK(found->url == "http://a.example/");
}

TEST_CASE("a missing file is reported, and its subscribers stay") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", alone);
  const auto file = opened(path);
  std::filesystem::remove(path);
  CHECK_FALSE(file->find("b").subscriber);
  CHECK(file->find("a").subscriber);
  CHECK(file->find("b").problem);
}
