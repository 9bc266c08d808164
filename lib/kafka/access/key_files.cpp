#include "kafka/access/key_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/pools/pool_scope.h"
#include "config/yaml/read_file.h"
#include "kafka/access/certificate.h"
#include "kafka/access/key_material.h"
#include "kafka/types.h"

namespace laneway::kafka {
namespace {

constexpr std::chrono::hours notice(14 * 24);

const config::ClientSetting* find_setting(const ClientSettings& settings, std::string_view key) {
  const auto found = settings.find(std::string(key));
  return found == settings.end() ? nullptr : &found->second;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The files of one client.
class KeyFiles {
 public:
  explicit KeyFiles(const ClientSettings& settings) : settings_(settings) {}

  KeyFileReport check(std::chrono::system_clock::time_point now) {
    for (const auto& key : config::client_keys())
      if (const auto* setting = find_setting(settings_, key.name)) check_file(key, setting->value);
    const auto own = own_certificate();
    if (own.certificate) check_dates(own, now);
    return std::move(report_);
  }

  struct Own {
    CertificatePtr certificate{nullptr, X509_free};
    std::string key;   // the key of the configuration
    std::string file;  // empty if the certificate is in the configuration itself
  };

  /// The client's certificate; also checks its private key.
  Own own_certificate() {
    if (find_setting(settings_, "ssl.keystore.location") != nullptr) return from_key_store();
    const auto certificate = content("ssl.certificate.location", "ssl.certificate.pem");
    const auto key = content("ssl.key.location", "ssl.key.pem");
    if (certificate.name.empty() != key.name.empty()) {
      const auto& given = key.name.empty() ? certificate : key;
      refuse(given.name,
             std::string("kafka.ssl.") + (key.name.empty() ? "key" : "certificate") + ".location is missing",
             "set both: a certificate needs its private key");
    }
    Own own{read_certificate(certificate.text), certificate.name, certificate.file};
    if (certificate.read && !own.certificate)
      refuse(certificate.name, "no certificate found",
             "the certificate must be in PEM format, with a line -----BEGIN CERTIFICATE-----");
    if (key.read) check_key(key, own);
    return own;
  }

 private:
  struct Content {
    std::string name;  // the key that is set; empty if no key is set
    std::string file;
    std::string text;
    bool read = false;
  };

  void refuse(const std::string& key, const std::string& what, const std::string& hint) {
    const auto& setting = settings_.at(key);
    const auto& path = setting.value;
    const auto where = key.ends_with(".pem") ? "" : path + ": ";
    report_.errors.push_back(
        {ErrorKind::configuration, setting.origin + ": kafka." + key + ": " + where + what, hint});
  }

  std::optional<std::string> read(const std::string& key, const std::string& path) {
    auto text = config::read_file(path);
    if (text) return std::move(text).value();
    refuse(key, text.error().message, text.error().hint);
    return std::nullopt;
  }

  Content content(const char* location, const char* pem) {
    if (const auto* setting = find_setting(settings_, location)) {
      auto text = read(location, setting->value);
      return {location, setting->value, text.value_or(""), text.has_value()};
    }
    if (const auto* setting = find_setting(settings_, pem)) return {pem, "", setting->value, true};
    return {};
  }

  /// Without the certificate, its key and a key store, which are checked together.
  void check_file(const config::ClientKey& key, const std::string& path) {
    if (key.file == config::ClientKey::File::authorities) check_authorities(std::string(key.name), path);
    if (key.file == config::ClientKey::File::key_table) check_key_table(std::string(key.name), path);
  }

  void check_authorities(const std::string& key, const std::string& path) {
    if (path == "probe" || is_directory(path)) return;
    const auto text = read(key, path);
    if (text && !read_certificate(*text))
      refuse(key, "no certificate found",
             "the certificate must be in PEM format, with a line -----BEGIN CERTIFICATE-----");
  }

  void check_key_table(const std::string& key, const std::string& path) {
    const std::string prefix = "FILE:";
    const auto text = read(key, path.starts_with(prefix) ? path.substr(prefix.size()) : path);
    if (text && !text->starts_with("\x05"))
      refuse(key, "not a key table", "check the file with klist -k FILE");
  }

  std::string password(const char* key) const {
    const auto* setting = find_setting(settings_, key);
    return setting == nullptr ? std::string() : setting->value;
  }

  void check_key(const Content& key, const Own& own) {
    const auto secret = password("ssl.key.password");
    const auto read = read_key(key.text, secret);
    const bool encrypted = key.text.find("ENCRYPTED") != key.text.npos;
    if (!read && encrypted && secret.empty())
      refuse(key.name, "the key is encrypted", "set kafka.ssl.key.password_file");
    else if (!read && encrypted)
      refuse(key.name, "kafka.ssl.key.password is not the password of this key",
             "correct kafka.ssl.key.password");
    else if (!read)
      refuse(key.name, "no private key found",
             "the private key must be in PEM format, with a line -----BEGIN PRIVATE KEY-----");
    else if (own.certificate && !belong_together(*own.certificate, *read))
      refuse(key.name, "the key does not belong to the certificate of kafka." + own.key,
             "name the key that the certificate was issued for");
  }

  Own from_key_store() {
    constexpr const char* key = "ssl.keystore.location";
    Own own{{nullptr, X509_free}, key, settings_.at(key).value};
    const auto text = read(key, own.file);
    if (!text) return own;
    const auto given = find_setting(settings_, "ssl.keystore.password") != nullptr;
    auto opened = open_key_store(*text, password("ssl.keystore.password"));
    own.certificate = std::move(opened.certificate);
    if (opened.failure == KeyStoreFailure::no_key_store)
      refuse(key, "not a PKCS#12 key store", "create one with openssl pkcs12 -export");
    if (opened.failure == KeyStoreFailure::wrong_password)
      refuse(key,
             given ? "kafka.ssl.keystore.password is not the password of this key store"
                   : "kafka.ssl.keystore.password is missing",
             "set kafka.ssl.keystore.password_file");
    if (opened.failure == KeyStoreFailure::unreadable)
      refuse(key,
             "OpenSSL cannot read this key store: a key or a certificate is missing, or its encryption is "
             "outdated",
             "create the key store again with openssl pkcs12 -export");
    return own;
  }

  void check_dates(const Own& own, std::chrono::system_clock::time_point now) {
    const auto dates = dates_of(*own.certificate);
    const auto text = description_of(*own.certificate, std::chrono::system_clock::to_time_t(now));
    if (dates.end <= now)
      refuse(own.key, text, "renew the certificate");
    else if (dates.begin > now)
      refuse(own.key, text, "compare the clock of this machine");
    else if (dates.end - now < notice)
      report_.warnings.push_back(
          settings_.at(own.key).origin + ": kafka." + own.key + ": " + text +
          ", less than 14 days from now: renew the certificate, then restart the service");
  }

  const ClientSettings& settings_;
  KeyFileReport report_;
};

std::vector<ClientSettings> clients_of(const config::Config& config) {
  std::vector<ClientSettings> clients{config.kafka};
  for (const auto& pool : config::stages_of(config))
    if (const auto output = config::output_of(config.handler_of(pool)); output && !output->client.empty())
      clients.push_back(config::client_of_producer(config.kafka, output->client));
  return clients;
}

bool told(const std::vector<Error>& errors, const Error& error) {
  return std::any_of(errors.begin(), errors.end(),
                     [&](const Error& other) { return other.message == error.message; });
}

}  // namespace

KeyFileReport check_key_files(const config::Config& config, std::chrono::system_clock::time_point now) {
  KeyFileReport all;
  for (const auto& client : clients_of(config)) {
    const auto report = KeyFiles(client).check(now);
    for (const auto& error : report.errors)
      if (!told(all.errors, error)) all.errors.push_back(error);
    for (const auto& warning : report.warnings)
      if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end())
        all.warnings.push_back(warning);
  }
  return all;
}

std::map<std::string, double> certificate_ends(const config::Config& config) {
  std::map<std::string, double> ends;
  for (const auto& client : clients_of(config)) {
    const auto own = KeyFiles(client).own_certificate();
    if (!own.certificate) continue;
    const auto end = dates_of(*own.certificate).end.time_since_epoch();
    ends[own.file] = std::chrono::duration<double>(end).count();
  }
  return ends;
}

}  // namespace laneway::kafka
