// The names of settings below `pools`: users choose the names of pools, so the schema has one row for the key
// of any pool, pools.NAME.workers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace laneway::config {

/// In the schema's names, stands for the name of a pool.
inline constexpr std::string_view pool_name = "NAME";
/// The beginning of the schema's names of pool keys.
inline constexpr std::string_view pool_rows = "pools.NAME.";

/// "pools.critical.workers": the pool critical and its key workers.
struct PoolPath {
  std::string pool;
  std::string key;  ///< empty for the pool itself
};
/// nullopt for a setting that is not of a pool.
std::optional<PoolPath> pool_path(std::string_view path);

/// The name of the schema's row: pools.NAME.workers for pools.critical.workers, and handler.http.url for
/// pools.critical.handler.http.url. Every other name is its own.
std::string schema_name(std::string_view path);

/// The reverse: the schema's name `row` as a setting of `pool`.
std::string name_in_pool(const std::string& pool, std::string_view row);

/// Why a pool cannot have this name; empty if it can.
std::string check_pool_name(std::string_view name);

}  // namespace laneway::config
