#include "tls/oldest_version.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "catch.h"

using namespace laneway;

namespace {

struct Defaults {
  long oldest = 0;
  int level = 0;
};

/// The defaults of a new process with these settings of OpenSSL, after old versions are refused. OpenSSL
/// reads its configuration once in a process.
Defaults defaults_with(const std::string& settings) {
  const std::string file = "/tmp/laneway-openssl-" + std::to_string(::getpid()) + ".cnf";
  std::ofstream(file) << "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = contexts\n"
                      << "[contexts]\n"
                      << settings;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::setenv("OPENSSL_CONF", file.c_str(), 1);
    Defaults found{-1, -1};
    if (tls::refuse_old_versions()) {
      auto* context = SSL_CTX_new(TLS_method());
      found = {static_cast<long>(SSL_CTX_get_min_proto_version(context)),
               SSL_CTX_get_security_level(context)};
    }
    const auto written = ::write(ends[1], &found, sizeof found);
    ::_exit(written == sizeof found ? 0 : 1);
  }
  ::close(ends[1]);
  Defaults found;
  CHECK(::read(ends[0], &found, sizeof found) == sizeof found);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::filesystem::remove(file);
  return found;
}

}  // namespace

TEST_CASE("tls: TLS 1.2 is the oldest version, whatever the machine allows") {
  CHECK(defaults_with("").oldest == TLS1_2_VERSION);
  CHECK(defaults_with("MinProtocol = TLSv1\n").oldest == TLS1_2_VERSION);
  CHECK(defaults_with("MinProtocol = None\n").oldest == TLS1_2_VERSION);
}

TEST_CASE("tls: a machine that allows only newer versions keeps its choice") {
  CHECK(defaults_with("MinProtocol = TLSv1.3\n").oldest == TLS1_3_VERSION);
}

TEST_CASE("tls: the other defaults of the machine stay") {
  for (const int level : {0, 1, 3})
    CHECK(defaults_with("CipherString = DEFAULT@SECLEVEL=" + std::to_string(level) + "\n").level == level);
}
