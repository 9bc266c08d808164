// The hash that distinguishes the keys of records if their content must not be kept. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace laneway {

/// 64-bit FNV-1a (Fowler, Noll, Vo), never 0.
constexpr std::uint64_t key_hash(std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace laneway
