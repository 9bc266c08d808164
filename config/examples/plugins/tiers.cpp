// Work that computes, with the libraries that services use for it: config/examples/priority-tiers.yaml and
// scripts/demo priority-tiers. The key `work` of the plugin's configuration names the kind:
//
//   login      verifies a password (PBKDF2) and signs a token (ES384): somebody waits for it
//   compress   compresses a text of 1 MiB (zstd)
//   batch      compresses and hashes (SHA-256) items of a batch; the record's value is their number
//
// Each kind checks its own result, and rejects the record if the result is wrong. The input follows from the
// record's offset. Threads: any number; they share only the key, which nobody changes.
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <zstd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "laneway/plugin.hpp"

namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;
using Digest = std::array<unsigned char, 32>;

constexpr std::string_view password = "correct horse battery staple";
constexpr std::string_view salt = "laneway";
constexpr int rounds = 20'000;  // of PBKDF2
constexpr std::size_t text_bytes = 1 << 20;
constexpr int text_level = 9;  // of zstd
constexpr std::size_t item_bytes = 256;
constexpr int item_level = 3;
constexpr std::uint32_t most_items = 1'000'000;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// A text of 2000 different words, which can be compressed about as well as prose.
std::string text_of(std::uint64_t seed, std::size_t size) {
  std::string text;
  text.reserve(size + 16);
  auto state = seed * 0x9E3779B97F4A7C15 + 1;
  while (text.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const auto word = state % 2000;
    auto rest = word;
    for (auto letters = word * 2654435761U % 7 + 2; letters > 0; --letters, rest = rest * 31 + 7)
      text += static_cast<char>('a' + rest % 26);
    text += ' ';
  }
  text.resize(size);
  return text;
}

Digest password_hash(std::string_view text) {
  Digest hash{};
  if (PKCS5_PBKDF2_HMAC(text.data(), static_cast<int>(text.size()), bytes(salt),
                        static_cast<int>(salt.size()), rounds, EVP_sha256(), static_cast<int>(hash.size()),
                        hash.data()) != 1)
    throw std::runtime_error("PBKDF2 failed");
  return hash;
}

std::vector<unsigned char> signature(EVP_PKEY* key, std::string_view token) {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha384(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes(token), token.size()) != 1)
    throw std::runtime_error("OpenSSL did not begin a signature");
  std::vector<unsigned char> made(size);
  if (EVP_DigestSign(context.get(), made.data(), &size, bytes(token), token.size()) != 1)
    throw std::runtime_error("OpenSSL did not sign the token");
  made.resize(size);
  return made;
}

bool verifies(EVP_PKEY* key, std::string_view token, const std::vector<unsigned char>& made) {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha384(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), made.data(), made.size(), bytes(token), token.size()) == 1;
}

/// Compresses the text, and returns whether it becomes the same text again.
bool compresses(const std::string& text, int level) {
  // A context for each thread: making one takes longer than compressing an item.
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> in(ZSTD_createCCtx(),
                                                                             ZSTD_freeCCtx);
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> out(ZSTD_createDCtx(),
                                                                              ZSTD_freeDCtx);
  std::string small(ZSTD_compressBound(text.size()), '\0');
  const auto size = ZSTD_compressCCtx(in.get(), small.data(), small.size(), text.data(), text.size(), level);
  if (ZSTD_isError(size) != 0) return false;
  std::string again(text.size(), '\0');
  const auto back = ZSTD_decompressDCtx(out.get(), again.data(), again.size(), small.data(), size);
  return ZSTD_isError(back) == 0 && back == text.size() && again == text;
}

bool hashes(const std::string& text) {
  Digest digest{};
  return EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1;
}

laneway::Answer verdict(bool right) {
  return right ? laneway::Answer::done() : laneway::Answer::reject("the result of the work is wrong");
}

class Tiers : public laneway::RecordPlugin {
 public:
  Tiers(laneway::Host, std::string_view config)
      : key_(EVP_EC_gen("P-384"), EVP_PKEY_free), stored_(password_hash(password)) {
    if (!key_) throw std::runtime_error("OpenSSL did not make a key for ES384");
    const auto work = nlohmann::json::parse(config).value("work", "");
    if (work == "login") work_ = &Tiers::login;
    if (work == "compress") work_ = &Tiers::compress;
    if (work == "batch") work_ = &Tiers::batch;
    if (work_ == nullptr) throw std::invalid_argument("work is one of login, compress, batch");
  }

  laneway::Answer handle(const laneway::Record& record) override { return (this->*work_)(record); }

 private:
  laneway::Answer login(const laneway::Record& record) const {
    if (password_hash(password) != stored_) return verdict(false);
    const auto token = R"({"sub":"user-)" + std::to_string(record.offset()) + R"("})";
    return verdict(verifies(key_.get(), token, signature(key_.get(), token)));
  }

  laneway::Answer compress(const laneway::Record& record) const {
    return verdict(compresses(text_of(static_cast<std::uint64_t>(record.offset()), text_bytes), text_level));
  }

  laneway::Answer batch(const laneway::Record& record) const {
    const auto value = record.value().value_or("");
    std::uint32_t items = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), items);
    if (error != std::errc() || end != value.data() + value.size() || items > most_items)
      return laneway::Answer::reject("the value is not a number of items");
    const auto first = static_cast<std::uint64_t>(record.offset()) * most_items;
    for (std::uint32_t i = 0; i < items; ++i) {
      if (record.stop_requested()) return laneway::Answer::retry("the service stops, or the time is over");
      const auto item = text_of(first + i, item_bytes);
      if (!hashes(item) || !compresses(item, item_level)) return verdict(false);
    }
    return verdict(true);
  }

  const Key key_;
  const Digest stored_;
  laneway::Answer (Tiers::*work_)(const laneway::Record&) const = nullptr;
};

}  // namespace

LANEWAY_PLUGIN("tiers", "1.0", Tiers)
