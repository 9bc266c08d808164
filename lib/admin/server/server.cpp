#include "admin/server/server.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

#include "admin/http/host_check.h"
#include "admin/server/routes.h"
#include "base/shortage.h"

namespace laneway::admin {
namespace {

std::vector<std::string> names_of(const std::string& listen) {
  std::vector<std::string> names = {std::string(host_of(listen))};
  std::array<char, 256> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) == 0) names.emplace_back(machine.data());
  return names;
}

/// Threads that are started during its life take no signals: signals are for the main thread.
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

Result<std::unique_ptr<Server>> Server::start(const std::string& listen, AdminSources sources,
                                              Limits limits) {
  auto listener = listen_on(listen);
  if (!listener) return listener.error();
  try {
    return std::unique_ptr<Server>(
        new Server(std::move(listener).value(), listen, std::move(sources), limits));
  } catch (const std::system_error& error) {
    return Error{ErrorKind::exhausted,
                 std::string("the admin server cannot start: ") +
                     shortage_of(error.code().value()).value_or(error.what()),
                 ""};
  }
}

Server::Server(Listener listener, const std::string& listen, AdminSources sources, const Limits& limits)
    : reception_(std::move(listener), limits.reception),
      routes_(std::make_unique<Routes>(std::move(sources), names_of(listen), reception_.is_loopback())) {
  const SignalsBlocked blocked;
  try {
    threads_.emplace_back([this] { reception_.run(); });
    threads_.emplace_back([this] { work(true); });  // answers probes, however busy the others are
    for (std::size_t i = 0; i < limits.workers; ++i) threads_.emplace_back([this] { work(false); });
  } catch (...) {
    stop();  // a thread that is not joined would end the process
    throw;
  }
}

Server::~Server() { stop(); }

void Server::stop() {
  reception_.stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  reception_.close();
}

void Server::work(bool probes_only) {
  while (auto request = reception_.next(probes_only))
    reception_.answered(request->client, routes_->answer(std::move(request->text)));
}

}  // namespace laneway::admin
