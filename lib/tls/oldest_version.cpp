#include "tls/oldest_version.h"

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace laneway::tls {
namespace {

using Conf = std::unique_ptr<CONF, decltype(&NCONF_free)>;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr const char* system_default = "system_default";  // the settings of each new context

/// 0: any.
long oldest_version() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  return context ? SSL_CTX_get_min_proto_version(context.get()) : 0;
}

Conf new_conf() { return {NCONF_new(nullptr), &NCONF_free}; }

/// OpenSSL's own configuration; empty if there is none.
Conf system_conf() {
  auto conf = new_conf();
  const std::unique_ptr<char, void (*)(char*)> file(CONF_get1_default_config_file(),
                                                    [](char* text) { OPENSSL_free(text); });
  long line = 0;
  if (conf && file) NCONF_load(conf.get(), file.get(), &line);
  return conf;
}

std::string value_of(CONF* conf, const char* section, const char* name) {
  const char* value = NCONF_get_string(conf, section, name);
  return value == nullptr ? "" : value;
}

Settings section_of(CONF* conf, const std::string& name) {
  Settings all;
  auto* values = name.empty() ? nullptr : NCONF_get_section(conf, name.c_str());
  for (int i = 0; values != nullptr && i < sk_CONF_VALUE_num(values); ++i) {
    const auto* one = sk_CONF_VALUE_value(values, i);
    all.emplace_back(one->name, one->value == nullptr ? "" : one->value);
  }
  return all;
}

std::string line_of(const std::string& name, const std::string& value) {
  std::string line = name + " = ";
  for (const char c : value) {
    if (std::string("\\\"'$#").find(c) != std::string::npos) line += '\\';
    line += c;
  }
  return line + '\n';
}

/// The settings for contexts in `conf`, with another oldest version by default.
std::string raised(CONF* conf) {
  const auto init = value_of(conf, nullptr, "openssl_conf");
  const auto names = init.empty() ? "" : value_of(conf, init.c_str(), "ssl_conf");
  std::string heads = "openssl_conf = laneway_init\n[laneway_init]\nssl_conf = laneway_ssl\n[laneway_ssl]\n";
  std::string sections, defaults;
  for (const auto& [name, section] : section_of(conf, names)) {
    auto& text = name == system_default ? defaults : sections;
    const auto ours = "laneway_" + name;
    if (name != system_default) {
      heads += line_of(name, ours);
      text += '[' + ours + "]\n";
    }
    for (const auto& [key, value] : section_of(conf, section)) text += line_of(key, value);
  }
  heads += line_of(system_default, "laneway_defaults");
  return heads + sections + "[laneway_defaults]\n" + defaults + line_of("MinProtocol", "TLSv1.2");
}

bool load(const std::string& text) {
  const auto conf = new_conf();
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  long line = 0;
  return conf && bio && NCONF_load_bio(conf.get(), bio.get(), &line) > 0 &&
         CONF_modules_load(conf.get(), nullptr, 0) > 0;
}

Status refuse() {
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);
  if (oldest_version() >= TLS1_2_VERSION) return {};
  const auto conf = system_conf();
  const bool loaded = conf && load(raised(conf.get()));
  const bool done = loaded && oldest_version() >= TLS1_2_VERSION;
  std::array<char, 256> why{};
  ERR_error_string_n(ERR_peek_last_error(), why.data(), why.size());
  ERR_clear_error();
  if (done) return {};
  return Error{ErrorKind::internal,
               std::string("OpenSSL does not take TLS 1.2 as the oldest version: ") + why.data(),
               "check the file openssl.cnf"};
}

}  // namespace

Status refuse_old_versions() {
  static const Status refused = refuse();
  return refused;
}

}  // namespace laneway::tls
