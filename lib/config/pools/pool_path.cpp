#include "config/pools/pool_path.h"

#include "config/text.h"

namespace laneway::config {
namespace {

constexpr std::string_view group = "pools.";
constexpr std::size_t longest_pool_name = 60;

}  // namespace

std::optional<PoolPath> pool_path(std::string_view path) {
  if (!path.starts_with(group) || path.size() == group.size()) return std::nullopt;
  path.remove_prefix(group.size());
  const auto dot = path.find('.');
  if (dot == path.npos) return PoolPath{std::string(path), ""};
  return PoolPath{std::string(path.substr(0, dot)), std::string(path.substr(dot + 1))};
}

std::string schema_name(std::string_view path) {
  const auto of_pool = pool_path(path);
  if (!of_pool) return std::string(path);
  if (is_handler(of_pool->key)) return of_pool->key;
  const std::string pool = std::string(group) + std::string(pool_name);
  return of_pool->key.empty() ? pool : pool + '.' + of_pool->key;
}

std::string name_in_pool(const std::string& pool, std::string_view row) {
  const auto key = row.starts_with(pool_rows) ? row.substr(pool_rows.size()) : row;
  return std::string(group) + pool + '.' + std::string(key);
}

std::string check_pool_name(std::string_view name) {
  if (name.empty()) return "the name of a pool is empty";
  if (name.size() > longest_pool_name) return "the name of a pool has at most 60 characters";
  if (!is_word(name, "-_")) return "the name of a pool may have letters, digits, - and _ only";
  return "";
}

}  // namespace laneway::config
