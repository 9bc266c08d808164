// The threads of the library's pool with work that the test controls.
#include "worker_pool/watched_threads.h"

#include "worker_pool/support.h"

namespace laneway::worker_pool {
namespace {

/// A claim of several jobs begins at the watcher's last look, before the watcher gives up.
class ClaimAtTheLastLook final : public ThreadWork {
 public:
  bool has_work() const override { return !began_; }
  bool needs_help() override {
    if (claimed_) helped_ = true;
    return claimed_;
  }
  bool watched_something() const override {
    if (++looks_ == 10) {
      claimed_ = true;
      relies_on_watcher_ = threads_->counts().has_watcher();
    }
    return false;
  }
  bool has_unbegun_claim() const override { return claimed_; }
  bool wants_watcher() const override { return true; }
  void work(std::uint32_t) override { began_ = true; }

  void run() {
    WatchedThreads threads({.least = 0, .most = 1, .idle = seconds(3600)}, "test", *this);
    threads_ = &threads;
    REQUIRE(threads.call_one());
    REQUIRE(eventually([&] { return claimed_.load(); }));
    REQUIRE(relies_on_watcher_);
    REQUIRE(eventually([&] { return helped_.load(); }));
  }

 private:
  WatchedThreads* threads_ = nullptr;
  mutable std::atomic<int> looks_{0};
  mutable std::atomic<bool> claimed_{false}, relies_on_watcher_{false};
  std::atomic<bool> began_{false}, helped_{false};
};

TEST_CASE("a watcher that gives up as a claim begins watches again") { ClaimAtTheLastLook().run(); }

}  // namespace
}  // namespace laneway::worker_pool
