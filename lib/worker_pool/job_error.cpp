#include "worker_pool/job_error.h"

#include <exception>

namespace laneway::worker_pool {

void report_error(const PoolOptions& options, std::uint64_t id, std::string_view name) noexcept {
  if (!options.on_error) return;
  JobError error{id, name, std::current_exception(), {}};
  try {
    try {
      throw;
    } catch (const std::exception& exception) {
      error.what = exception.what();
    } catch (...) {
      error.what = "an exception that is not a std::exception";
    }
  } catch (...) {  // no memory for the text
  }
  try {
    options.on_error(error);
  } catch (...) {  // of on_error
  }
}

}  // namespace laneway::worker_pool
