#include "lane/shared/router.h"

#include <algorithm>

#include "handler/content.h"

namespace laneway::lane {
namespace {

std::size_t place_of(const std::string& pool, const std::vector<std::string>& pools) {
  const auto found = std::find(pools.begin(), pools.end(), pool);
  return found == pools.end() ? 0 : static_cast<std::size_t>(found - pools.begin());
}

}  // namespace

Router::Router(const config::RouteSettings& route, const std::vector<std::string>& pools)
    : by_(route.by), otherwise_(place_of(route.otherwise, pools)) {
  const bool in_turn = by_.kind == config::Selector::Kind::round_robin;
  if (!in_turn) entries_.push_back(otherwise_);
  if (!by_.enabled()) return;
  for (std::size_t i = 0; i < route.rows.size(); ++i) {
    const auto& row = route.rows[i];
    const Row made{i, place_of(row.pool, pools)};
    if (in_turn)
      turn_.push_back(made.pool);
    else if (row.prefix)
      prefixes_.push_back({row.text, made});
    else
      exact_.emplace(row.text, made);
    if (std::find(entries_.begin(), entries_.end(), made.pool) == entries_.end())
      entries_.push_back(made.pool);
  }
  std::sort(entries_.begin(), entries_.end());
}

std::size_t Router::pool_of(const handler::Item& item) const {
  return turn_.empty() ? pool_of(item.record) : turn_[item.sequence % turn_.size()];
}

std::size_t Router::pool_of(const kafka::Record& record) const {
  if (!by_.enabled()) return otherwise_;
  if (by_.kind == config::Selector::Kind::topic) return pool_of(record.topic());
  const auto text = handler::Content(record).selected(by_, {});
  return text ? pool_of(*text) : otherwise_;
}

std::size_t Router::pool_of(std::string_view text) const {
  const auto prefix = std::find_if(prefixes_.begin(), prefixes_.end(),
                                   [&](const auto& row) { return text.starts_with(row.text); });
  const auto exact = exact_.find(text);
  if (exact != exact_.end() && (prefix == prefixes_.end() || exact->second.number < prefix->row.number))
    return exact->second.pool;
  return prefix == prefixes_.end() ? otherwise_ : prefix->row.pool;
}

}  // namespace laneway::lane
