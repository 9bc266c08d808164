// Reports the exception of a job to the pool's owner.
//
// Threads: any. Calls PoolOptions::on_error, which may block.
#pragma once

#include <cstdint>
#include <string_view>

#include "laneway/pool_types.hpp"

namespace laneway::worker_pool {

/// Called with the exception of a job as the current one. Throws nothing.
void report_error(const PoolOptions& options, std::uint64_t id, std::string_view name) noexcept;

}  // namespace laneway::worker_pool
