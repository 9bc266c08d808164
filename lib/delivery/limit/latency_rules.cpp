#include "delivery/limit/latency_rules.h"

#include <algorithm>
#include <cmath>

namespace laneway::delivery {
namespace {

std::uint32_t up(double limit) { return static_cast<std::uint32_t>(std::ceil(limit - 1e-9)); }
std::uint32_t down(double limit) { return static_cast<std::uint32_t>(std::floor(limit + 1e-9)); }

}  // namespace

std::uint32_t vegas(std::uint32_t limit, double base, double latency) {
  const auto now = static_cast<double>(limit);
  const double step = std::max(1.0, std::floor(std::log10(now)));
  const double few = std::clamp(step, 0.04 * now, 0.08 * now);
  const double wanted = std::clamp(3 * step, 0.08 * now, 0.1 * now);
  const double many = std::clamp(6 * step, 0.12 * now, 0.15 * now);
  const double queue = latency > base ? now * (1 - base / latency) : 0;
  if (queue <= few) return limit + up(now / 4);
  if (queue < wanted) return limit + up(step);
  if (queue <= many) return limit;
  return down(std::max(now / 2, now * base / latency + (wanted + many) / 2));
}

std::uint32_t gradient(std::uint32_t limit, double base, double latency) {
  constexpr double tolerance = 1.05;
  constexpr double smoothing = 0.5;
  constexpr double headroom = 4;
  const auto now = static_cast<double>(limit);
  const double slope = std::clamp(tolerance * base / latency, 0.5, 1.0);
  if (slope == 1) return limit + up(now / 5);
  const double next = now * slope + std::clamp(now / 12, 1.0, headroom);
  const double smooth = now + smoothing * (next - now);
  return next < now ? down(smooth) : static_cast<std::uint32_t>(std::lround(smooth));
}

}  // namespace laneway::delivery
