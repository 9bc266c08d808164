#include "admin/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <system_error>
#include <thread>
#include <vector>

#include "admin/connection.h"
#include "admin/descriptor_reserve.h"
#include "admin/host_check.h"
#include "admin/listener.h"
#include "admin/routes.h"
#include "base/mutex.h"
#include "base/shortage.h"
#include "telemetry/log.h"

namespace laneway::admin {
namespace {

std::vector<std::string> names_of(const std::string& listen) {
  std::vector<std::string> names = {std::string(host_of(listen))};
  std::array<char, 256> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) == 0) names.emplace_back(machine.data());
  return names;
}

/// The threads started meanwhile take no signals: those are for the main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

class Server::Implementation {
 public:
  Implementation(Listener listener, const std::string& listen, AdminSources sources, const Limits& limits)
      : limits_(limits),
        listener_(std::move(listener)),
        stop_event_(::eventfd(0, EFD_CLOEXEC)),
        reserve_(limits.workers),
        routes_(std::move(sources), names_of(listen), listener_.loopback) {
    if (stop_event_.number() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    const SignalsBlocked blocked;
    try {
      threads_.emplace_back([this] { accept_connections(); });
      for (std::size_t i = 0; i < limits_.workers; ++i)
        threads_.emplace_back([this] { serve_connections(); });
    } catch (...) {
      stop();  // a thread that is not joined would end the process
      throw;
    }
  }
  ~Implementation() { stop(); }

  std::uint16_t port() const { return listener_.port; }

  void stop() EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      waiting_.clear();
    }
    ::eventfd_write(stop_event_.number(), 1);
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    listener_.socket.close();
  }

 private:
  void accept_connections() {
    std::array<pollfd, 2> wanted{{{listener_.socket.number(), POLLIN, 0}, {stop_event_.number(), POLLIN, 0}}};
    for (;;) {
      const int ready = ::poll(wanted.data(), wanted.size(), -1);
      if (ready > 0 && wanted[1].revents != 0) return;
      Descriptor socket = accept_one();
      if (socket.number() >= 0) {
        enqueue(std::move(socket));
      } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        accept_failed(shortage_of(errno).value_or(std::generic_category().message(errno)));
      }
    }
  }

  /// Invalid, with errno set, when there is none.
  Descriptor accept_one() {
    for (;;) {
      Descriptor socket(::accept4(listener_.socket.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      const bool none_left = socket.number() < 0 && (errno == EMFILE || errno == ENFILE);
      if (!none_left || !reserve_.release()) return socket;
    }
  }

  /// Out of descriptors, the reserve too, or of memory: that passes.
  void accept_failed(const std::string& why) {
    telemetry::log_repeating(telemetry::Level::warn, "admin accept: " + why, "admin connection not accepted",
                             {{"error", why}});
    pollfd stopped{stop_event_.number(), POLLIN, 0};
    ::poll(&stopped, 1, 100);
  }

  void enqueue(Descriptor socket) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (stopping_ || waiting_.size() >= limits_.waiting) return reserve_.end(std::move(socket));
      waiting_.push_back(std::move(socket));
      crowded_ = true;
    }
    changed_.notify_one();
  }

  void serve_connections() {
    const ConnectionLimits limits{limits_.request_bytes, limits_.request_time, limits_.crowded_time,
                                  limits_.answer_time};
    for (Descriptor socket = next(); socket.number() >= 0; socket = next()) {
      Connection connection(std::move(socket), stop_event_.number(), limits, crowded_);
      routes_.answer(connection);
      reserve_.end(connection.finish());
    }
  }

  /// Invalid when stopping.
  Descriptor next() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (waiting_.empty() && !stopping_) changed_.wait(mutex_);
    if (stopping_) return {};
    Descriptor socket = std::move(waiting_.front());
    waiting_.pop_front();
    crowded_ = !waiting_.empty();
    return socket;
  }

  const Limits limits_;
  Listener listener_;
  const Descriptor stop_event_;  // readable from stop() on
  DescriptorReserve reserve_;
  Routes routes_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Descriptor> waiting_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> crowded_{false};  // some wait
  std::vector<std::thread> threads_;
};

Result<std::unique_ptr<Server>> Server::start(const std::string& listen, AdminSources sources,
                                              Limits limits) {
  auto listener = listen_on(listen);
  if (!listener) return listener.error();
  try {
    return std::unique_ptr<Server>(new Server(
        std::make_unique<Implementation>(std::move(listener).value(), listen, std::move(sources), limits)));
  } catch (const std::system_error& error) {
    return Error{ErrorKind::exhausted,
                 std::string("the admin server cannot start: ") +
                     shortage_of(error.code().value()).value_or(error.what()),
                 ""};
  }
}

Server::Server(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}

Server::~Server() = default;

std::uint16_t Server::port() const { return implementation_->port(); }

void Server::stop() { implementation_->stop(); }

}  // namespace laneway::admin
