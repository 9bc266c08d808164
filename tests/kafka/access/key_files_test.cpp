// What is told of certificates, keys, key stores and key tables before a broker is asked.
#include "kafka/access/key_files.h"

#include <openssl/pkcs12.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.h"
#include "certificate.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

constexpr long days = 24;  // hours

/// Files that go with the test, and a configuration that names them.
class KeyFolder {
 public:
  KeyFolder()
      : path_(std::filesystem::temp_directory_path() / ("key_files_test-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~KeyFolder() { std::filesystem::remove_all(path_); }

  std::string put(const std::string& name, const std::string& content) const {
    const auto file = (path_ / name).string();
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  void set(const std::string& key, const std::string& value) {
    config.kafka[key] = {value, "laneway.yaml:3:5", false};
  }
  KeyFileReport report() const { return check_key_files(config, std::chrono::system_clock::now()); }
  /// The only error, with its hint.
  std::string error() const {
    const auto found = report();
    CHECK(found.warnings.empty());
    REQUIRE(found.errors.size() == 1);
    CHECK(found.errors.front().kind == ErrorKind::configuration);
    return found.errors.front().text();
  }
  bool is_right() const {
    const auto found = report();
    return found.errors.empty() && found.warnings.empty();
  }

  config::Config config;

 private:
  std::filesystem::path path_;
};

void show_certificate(KeyFolder& folder, const Certificate& certificate) {
  folder.set("ssl.certificate.location", folder.put("worker.pem", certificate.pem()));
  folder.set("ssl.key.location", folder.put("worker_key.pem", certificate.key_pem()));
}

std::string key_store(const Certificate& certificate, const char* password) {
  const std::unique_ptr<PKCS12, decltype(&PKCS12_free)> store(
      PKCS12_create(password, "worker", certificate.key(), certificate.x509(), nullptr, 0, 0, 0, 0, 0),
      PKCS12_free);
  REQUIRE(store);
  unsigned char* bytes = nullptr;
  const int size = i2d_PKCS12(store.get(), &bytes);
  REQUIRE(size > 0);
  const std::string content(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return content;
}

}  // namespace

TEST_CASE("an expired or not yet valid certificate is an error, and one that expires soon a warning") {
  KeyFolder folder;
  show_certificate(folder, Certificate("IP:127.0.0.1", 15 * days));
  CHECK(folder.is_right());
  show_certificate(folder, Certificate("IP:127.0.0.1", 13 * days));
  const auto soon = folder.report();
  CHECK(soon.errors.empty());
  REQUIRE(soon.warnings.size() == 1);
  CHECK_THAT(soon.warnings.front(),
             Catch::StartsWith(
                 "laneway.yaml:3:5: kafka.ssl.certificate.location: the certificate of CN=test, issued by "
                 "CN=test, valid until 20") &&
                 Catch::Contains("less than 14 days"));
  show_certificate(folder, Certificate("IP:127.0.0.1", -1));
  CHECK_THAT(
      folder.error(),
      Catch::Contains("worker.pem: the certificate of CN=test, issued by CN=test, which expired on 20") &&
          Catch::EndsWith("(renew the certificate)"));
  const auto earlier =
      check_key_files(folder.config, std::chrono::system_clock::now() - std::chrono::hours(30 * days));
  REQUIRE(earlier.errors.size() == 1);
  CHECK_THAT(earlier.errors.front().text(),
             Catch::Contains("is not valid before 20") && Catch::Contains("clock"));
}

TEST_CASE("a wrong, encrypted, missing or invalid key is reported with its setting") {
  KeyFolder folder;
  const Certificate worker("IP:127.0.0.1", 30 * days), other("IP:127.0.0.1", 30 * days);
  show_certificate(folder, worker);
  folder.set("ssl.key.location", folder.put("other_key.pem", other.key_pem()));
  CHECK_THAT(folder.error(),
             Catch::StartsWith("laneway.yaml:3:5: kafka.ssl.key.location: ") &&
                 Catch::Contains("other_key.pem: the key does not belong to the certificate of "
                                 "kafka.ssl.certificate.location"));
  folder.set("ssl.key.location", folder.put("worker_key.pem", worker.key_pem("secret")));
  CHECK_THAT(folder.error(), Catch::Contains("the key is encrypted (set kafka.ssl.key.password_file)"));
  folder.set("ssl.key.password", "wrong");
  CHECK_THAT(folder.error(), Catch::Contains("kafka.ssl.key.password is not the password of this key"));
  folder.set("ssl.key.password", "secret");
  CHECK(folder.is_right());
  folder.set("ssl.key.location", folder.put("worker_key.pem", worker.pem()));
  CHECK_THAT(folder.error(), Catch::Contains("no private key found"));
  folder.config.kafka.erase("ssl.key.location");
  CHECK_THAT(folder.error(), Catch::Contains("kafka.ssl.certificate.location") &&
                                 Catch::Contains("kafka.ssl.key.location is missing"));
}

TEST_CASE("inline certificates and keys, and lines that end as on Windows, are read, too") {
  KeyFolder folder;
  const Certificate worker("IP:127.0.0.1", 30 * days);
  folder.set("ssl.certificate.pem", worker.pem());
  folder.set("ssl.key.pem", Certificate().key_pem());
  CHECK(folder.error() ==
        "laneway.yaml:3:5: kafka.ssl.key.pem: the key does not belong to the certificate of "
        "kafka.ssl.certificate.pem "
        "(name the key that the certificate was issued for)");
  std::string lines;
  for (const char c : worker.key_pem()) lines += c == '\n' ? "\r\n" : std::string(1, c);
  folder.set("ssl.key.pem", lines);
  CHECK(folder.is_right());
}

TEST_CASE("a missing or wrong file is reported with its path") {
  KeyFolder folder;
  folder.set("ssl.ca.location", "/nowhere/authority.pem");
  CHECK_THAT(folder.error(),
             Catch::Contains("kafka.ssl.ca.location: /nowhere/authority.pem: the file cannot be opened"));
  folder.set("ssl.ca.location", folder.put("authority.pem", "nothing"));
  CHECK_THAT(folder.error(), Catch::Contains("authority.pem: no certificate found"));
  folder.set("ssl.ca.location", folder.put("authority.pem", Certificate::authority("authority").pem()));
  folder.set("sasl.kerberos.keytab", folder.put("worker.keytab", "nothing"));
  CHECK_THAT(folder.error(), Catch::Contains("worker.keytab: not a key table"));
  folder.set("sasl.kerberos.keytab", folder.put("worker.keytab", "\x05\x02"));
  CHECK(folder.is_right());
  folder.set("ssl.ca.location", "/tmp");  // a folder of authorities
  CHECK(folder.is_right());
}

TEST_CASE("a key store is opened with its password") {
  KeyFolder folder;
  const auto content = key_store(Certificate("IP:127.0.0.1", 30 * days), "secret");
  folder.set("ssl.keystore.location", folder.put("worker.p12", content));
  CHECK_THAT(folder.error(), Catch::Contains("kafka.ssl.keystore.password is missing"));
  folder.set("ssl.keystore.password", "wrong");
  CHECK_THAT(folder.error(),
             Catch::Contains("kafka.ssl.keystore.password is not the password of this key store"));
  folder.set("ssl.keystore.password", "secret");
  CHECK(folder.is_right());
  folder.put("worker.p12", key_store(Certificate("IP:127.0.0.1", -1), "secret"));
  CHECK_THAT(folder.error(),
             Catch::Contains("worker.p12: the certificate of CN=test") && Catch::Contains("expired on"));
  folder.put("worker.p12", "nothing");
  CHECK_THAT(folder.error(), Catch::Contains("not a PKCS#12 key store"));
}

TEST_CASE("a producer for another cluster has its own files, and shared problems are reported once") {
  KeyFolder folder;
  folder.set("ssl.ca.location", "/nowhere/authority.pem");
  config::ProduceSettings produce;
  produce.client["bootstrap.servers"] = {"kafka-2:9093", "handler.produce.kafka", false};
  const Certificate expired("IP:127.0.0.1", -1), right("IP:127.0.0.1", 30 * days);
  produce.client["ssl.certificate.location"] = {folder.put("writer.pem", expired.pem()),
                                                "handler.produce.kafka", false};
  produce.client["ssl.key.location"] = {folder.put("writer_key.pem", expired.key_pem()),
                                        "handler.produce.kafka", false};
  folder.config.handler = produce;
  const auto report = folder.report();
  REQUIRE(report.errors.size() == 2);
  CHECK_THAT(report.errors[1].message,
             Catch::StartsWith("handler.produce.kafka: kafka.ssl.certificate.location: ") &&
                 Catch::Contains("expired"));
  show_certificate(folder, right);
  const auto ends = certificate_ends(folder.config);
  REQUIRE(ends.size() == 2);
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const auto& [file, end] : ends) CHECK((end > now) == (file.find("worker.pem") != file.npos));
}
