#include "config/handlers/subscribers.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "catch.h"

using namespace laneway;
using namespace laneway::config;

namespace {

const std::string a_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A file that goes away.
class OneFile {
 public:
  explicit OneFile(const std::string& text, mode_t mode = 0600) {
    std::string pattern = "/tmp/laneway-subscribers-XXXXXX";
    const int file = mkstemp(pattern.data());
    REQUIRE(file >= 0);
    ::close(file);
    path = pattern;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  ~OneFile() { std::filesystem::remove(path); }
  OneFile(const OneFile&) = delete;

  std::string path;
};

std::vector<Subscriber> read_text(const std::string& text) {
  const OneFile file(text);
  const auto read = read_subscribers(file.path);
  INFO(text);
  REQUIRE(read.ok());
  return *read;
}

/// The message without the path.
std::string refused_text(const std::string& text, mode_t mode = 0600) {
  const OneFile file(text, mode);
  const auto read = read_subscribers(file.path);
  INFO(text);
  REQUIRE_FALSE(read.ok());
  const auto& message = read.error().message;
  REQUIRE(message.starts_with(file.path));
  return message.substr(file.path.size());
}

}  // namespace

TEST_CASE("subscribers have names, URLs, secrets and events") {
  const auto read = read_text("- name: billing.eu-1\n  url: https://b.example/hooks\n  secret: [" + a_secret +
                              ", " + a_secret +
                              "]\n  events: [order.created, 'invoice.*']\n"
                              "- { name: audit, url: http://a.example, enabled: false }\n");
  REQUIRE(read.size() == 2);
  CHECK(read[0].secrets.size() == 2);
  CHECK(read[0].secrets[0].size() == 24);
  CHECK(read[0].enabled);
  CHECK(read[0].wants("order.created"));
  CHECK(read[0].wants("invoice.paid"));
  CHECK_FALSE(read[0].wants("order.created.v2"));
  CHECK_FALSE(read[0].wants(std::nullopt));
  CHECK_FALSE(read[1].enabled);
  CHECK(read[1].wants(std::nullopt));
  CHECK(read_text("[]").empty());
}

TEST_CASE("a secret may stand in a file of its own, beside the file of subscribers") {
  const OneFile secret(a_secret + "\n");
  const auto name = std::filesystem::path(secret.path).filename().string();
  CHECK(read_text("- { name: a, url: http://a.example, secret_file: " + name + " }").front().secrets.size() ==
        1);
  CHECK(refused_text("- { name: a, url: http://a.example, secret_file: none }")
            .starts_with(":1: secret_file: the file cannot be opened"));
}

TEST_CASE("a mistake in a file of subscribers names its line") {
  CHECK(refused_text("a: b") == ":1: expected a list of subscribers");
  CHECK(refused_text("- a") == ":1: expected a subscriber: name, url, secret, …");
  CHECK(refused_text("- url: http://a.example") == ":1: the subscriber has no name");
  CHECK(refused_text("\n- name: a") == ":2: the subscriber a has no url");
  CHECK(refused_text("- name: a b\n  url: http://a.example") == ":1: name: \"a b\" is not a name");
  CHECK(refused_text("- name: a\n  url: ftp://a").starts_with(":2: url: it does not start with http"));
  CHECK(refused_text("- name: a\n  url: http://u:p@a/") == ":2: url: it contains a user or a password");
  CHECK(refused_text("- name: a\n  rate: 5") == ":2: the key rate does not exist");
  CHECK(refused_text("- { name: a, url: http://a }\n- { name: a, url: http://b }") ==
        ":2: two subscribers have the name a");
  CHECK(refused_text("- name: a\n  url: http://a\n  enabled: yes") == ":3: enabled: expected true or false");
  CHECK(refused_text("- name: a\n  url: http://a\n  events: []") == ":3: events: the list is empty");
  CHECK(refused_text("- name: a\n  events: 'a*b'") ==
        ":2: events: expected an event type, which may end with *");
  CHECK(refused_text("- name: a\n  name: b").find("set twice") != std::string::npos);
  CHECK(read_subscribers("/no/such").error().kind == ErrorKind::no_input);
}

TEST_CASE("an empty file of subscribers is a mistake") {
  for (const std::string text : {"", "\n", "# nobody yet\n", "---\n", "~\n"})
    CHECK(refused_text(text) == ": the file is empty");
  CHECK(read_subscribers(OneFile("").path).error().hint == "write [] for no subscribers");
}

TEST_CASE("a secret that cannot sign is a mistake") {
  const OneFile file(a_secret + "\n");
  const auto name = std::filesystem::path(file.path).filename().string();
  const std::string begin = "- name: a\n  url: http://a\n";
  const auto secret = "  secret: " + a_secret + "\n";
  const auto secret_file = "  secret_file: " + name + "\n";
  CHECK(refused_text(begin + "  secret: []") == ":3: secret: the list is empty");
  for (const auto& both : {secret + secret_file, secret_file + secret})
    CHECK(refused_text(begin + both) == ":4: the subscriber has both secret and secret_file");
  CHECK(refused_text(begin + "  secret:").starts_with(":3: secret: it is not whsec_"));
  CHECK(refused_text(begin + "  secret: [" + a_secret + ", []]").starts_with(":3: secret: it is not whsec_"));
}

TEST_CASE("secrets are private, long enough and never shown") {
  const auto with = [](const std::string& secret) {
    return "- name: a\n  url: http://a\n  secret: " + secret;
  };
  CHECK(refused_text(with(a_secret), 0644) ==
        ":3: secret: everyone on this machine may read or write the file");
  CHECK(refused_text(with("hunter2")) == ":3: secret: it is not whsec_ and base64");
  CHECK(refused_text(with("whsec_aHVudGVyMg==")) == ":3: secret: it has 7 bytes, not 24 to 64");
  CHECK(refused_text(with("[" + a_secret + ", whsec_!]")) == ":3: secret: it is not whsec_ and base64");
}
