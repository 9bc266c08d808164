#include "app/run/notify.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>

#include "catch.h"
#include "eventually.h"

using namespace laneway;
using app::Notification;
using app::Notifier;
using app::Phase;

namespace {

/// The service manager's end, and the environment that it gives to a service.
class ServiceManager {
 public:
  /// `name`: a path, or @ and a name of the abstract namespace. `watchdog`: of the unit; zero: none.
  ServiceManager(const std::string& name, Duration watchdog) : name_(name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = 0;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
    reader_ = std::thread([this] { listen(); });
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    if (watchdog > Duration::zero())
      ::setenv("WATCHDOG_USEC", std::to_string(duration_cast<microseconds>(watchdog).count()).c_str(), 1);
  }
  ~ServiceManager() {
    ::shutdown(socket_, SHUT_RDWR);
    reader_.join();
    ::close(socket_);
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
    if (name_.front() != '@') std::filesystem::remove(name_);
  }

  /// Of the test itself; comes after all that was said before.
  void hear(const std::string& what) {
    sockaddr_un address{};
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::getsockname(socket_, generic, &length) == 0);
    const int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto sent = ::sendto(sender, what.data(), what.size(), 0, generic, length);
    ::close(sender);
    REQUIRE(sent == static_cast<ssize_t>(what.size()));
  }

  /// The next notification; empty when none comes for long.
  std::string next() {
    const auto deadline = Deadline::in(patience);
    MutexLock lock(mutex_);
    while (said_.empty() && !deadline.passed()) changed_.wait_until(mutex_, deadline.at);
    if (said_.empty()) return {};
    std::string said = std::move(said_.front());
    said_.pop_front();
    return said;
  }

  /// Whether a notification with this comes.
  bool says(const std::string& what) {
    for (std::string said = next(); !said.empty(); said = next())
      if (said.find(what) != std::string::npos) return true;
    return false;
  }

 private:
  void listen() {
    char buffer[4096];
    for (ssize_t size = 0; (size = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;) {
      MutexLock lock(mutex_);
      said_.emplace_back(buffer, static_cast<std::size_t>(size));
      changed_.notify_one();
    }
  }

  const std::string name_;
  const int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  Mutex mutex_;
  Condition changed_;
  std::deque<std::string> said_ GUARDED_BY(mutex_);
  std::thread reader_;  // without it a notifier would wait when the socket is full
};

Notifier::Sources sources(std::atomic<bool>& live) {
  return {.live =
              [&live] {
                return service::Liveness{live.load(), live ? "" : "member 1 hangs"};
              },
          .ready = [] { return service::Readiness(); },
          .lanes = [] { return std::vector<service::LaneView>(3); }};
}

std::string path() { return "/tmp/laneway-notify-" + std::to_string(::getpid()); }

service::LaneView view_of(lane::State state, std::int64_t lag, std::uint32_t in_flight) {
  service::LaneView view;
  view.state = state;
  view.lag = lag;
  view.in_flight = in_flight;
  return view;
}

}  // namespace

TEST_CASE("each phase has its messages to the service manager") {
  CHECK(app::encode({.entered = Phase::starting, .at_most = seconds(2), .ticks = false, .status = "s"}) ==
        "EXTEND_TIMEOUT_USEC=2000000\nSTATUS=s\n");
  CHECK(app::encode({.entered = Phase::started, .status = "s"}) == "READY=1\nWATCHDOG=1\nSTATUS=s\n");
  CHECK(app::encode({.entered = Phase::stopping, .at_most = milliseconds(5), .ticks = false, .status = ""}) ==
        "STOPPING=1\nEXTEND_TIMEOUT_USEC=5000\nSTATUS=\n");
  CHECK(app::encode({.entered = {}, .status = "s"}) == "WATCHDOG=1\nSTATUS=s\n");
}

TEST_CASE("a reload is announced with the time of its beginning") {
  CHECK(app::encode_reload(TimePoint(milliseconds(1234))) == "RELOADING=1\nMONOTONIC_USEC=1234000\n");
}

TEST_CASE("after a reload, the service manager learns that the service is ready") {
  ServiceManager manager(path(), Duration::zero());
  std::atomic<bool> live{true};
  Notifier notifier(sources(live), true);
  notifier.reloaded(SteadyClock::now());  // it has not started: there is nothing to tell
  notifier.enter(Phase::started);
  CHECK(manager.next().starts_with("READY=1\nSTATUS="));
  notifier.reloaded(TimePoint(seconds(5)));
  CHECK(manager.next() == "RELOADING=1\nMONOTONIC_USEC=5000000\n");
  CHECK(manager.next().starts_with("READY=1\nSTATUS="));
  notifier.enter(Phase::stopping, seconds(1));
  CHECK(manager.next().starts_with("STOPPING=1\n"));
  notifier.reloaded(SteadyClock::now());  // too late
  notifier.enter(Phase::stopping, seconds(1), "over");
}

TEST_CASE("a status message contains no other message") {
  CHECK(app::encode({.entered = {}, .ticks = false, .status = "a\nREADY=1\tb"}) == "STATUS=a READY=1 b\n");
}

TEST_CASE("the status summarises the lanes in one line") {
  CHECK(app::summary({}) == "0 lanes, 0 records behind, 0 running");
  CHECK(app::summary({view_of(lane::State::running, 1, 2)}) == "1 lane, 1 record behind, 2 running");
  CHECK(app::summary({view_of(lane::State::paused, 7, 1), view_of(lane::State::running, -1, 0),
                      view_of(lane::State::held, 5, 8), view_of(lane::State::held, 0, 0)}) ==
        "4 lanes, 12 records behind, 9 running, 2 held, 1 paused");
}

TEST_CASE("a service that is not ready reports the reason before the number of its lanes") {
  const service::Reason broker{service::ReasonCode::no_broker,
                               "member 1 has had no connection to a broker for 12 s", "", -1};
  const service::Reason stuck{service::ReasonCode::stuck, "orders:3 has 1 stuck worker", "orders", 3};
  CHECK(app::status_line({}, {view_of(lane::State::running, 1, 2)}) == "1 lane, 1 record behind, 2 running");
  CHECK(app::status_line({{broker}}, {}) ==
        "no brokers: member 1 has had no connection to a broker for 12 s");
  CHECK(app::status_line({{stuck, broker, broker}}, {view_of(lane::State::running, 1, 2)}) ==
        "the handler is stuck: orders:3 has 1 stuck worker, and 2 more reasons; "
        "1 lane, 1 record behind, 2 running");
}

TEST_CASE("the service manager is notified of the start, the progress and the stop of a service") {
  const auto name = GENERATE(as<std::string>{}, path(), "@" + path());
  CAPTURE(name);
  ServiceManager manager(name, milliseconds(40));
  std::atomic<bool> live{true};
  {
    Notifier notifier(sources(live), true);
    notifier.enter(Phase::starting, seconds(60));
    CHECK(manager.says("EXTEND_TIMEOUT_USEC=60000000\n"));
    notifier.enter(Phase::started);
    CHECK(manager.says("READY=1\n"));
    for (int i = 0; i < 5; ++i)
      CHECK(manager.next() == "WATCHDOG=1\nSTATUS=3 lanes, 0 records behind, 0 running, 3 assigned\n");
    notifier.enter(Phase::stopping, seconds(20));
    CHECK(manager.says("STOPPING=1\nEXTEND_TIMEOUT_USEC=20000000\n"));
    notifier.enter(Phase::started);  // too late to be true
    notifier.enter(Phase::stopping, seconds(1), "ended by an error: no broker");
  }
  const std::string last = "WATCHDOG=1\nSTATUS=ended by an error: no broker\n";
  for (std::string said; said != last;) {
    said = manager.next();
    REQUIRE(!said.empty());
    CHECK(said.find("READY") == std::string::npos);
    CHECK(said.find("EXTEND") == std::string::npos);
  }
}

TEST_CASE("the watchdog is fed only while the loops tick") {
  ServiceManager manager(path(), milliseconds(40));
  std::atomic<bool> live{true};
  Notifier notifier(sources(live), true);
  notifier.enter(Phase::started);
  CHECK(manager.says("READY=1\n"));
  live = false;
  CHECK(manager.says("member 1 hangs"));
  for (int i = 0; i < 10; ++i) CHECK(manager.next() == "STATUS=member 1 hangs\n");
  live = true;
  CHECK(manager.says("WATCHDOG=1\n"));
}

TEST_CASE("without a watchdog, no watchdog messages are sent") {
  ServiceManager manager(path(), Duration::zero());
  std::atomic<bool> live{true};
  {
    Notifier notifier(sources(live), true);
    notifier.enter(Phase::started);
    CHECK(manager.says("READY=1\nSTATUS="));
  }
  CHECK(manager.next() == "STATUS=3 lanes, 0 records behind, 0 running, 3 assigned\n");
}

TEST_CASE("a disabled notifier sends nothing") {
  ServiceManager manager(path(), milliseconds(40));
  std::atomic<bool> live{true};
  {
    Notifier notifier(sources(live), false);
    notifier.enter(Phase::started);
  }
  manager.hear("after all");
  CHECK(manager.next() == "after all");
}

TEST_CASE("a service manager that is gone does no harm") {
  std::atomic<bool> live{true};
  ::setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
  {
    Notifier notifier(sources(live), true);
    notifier.enter(Phase::started);
    notifier.enter(Phase::stopping, seconds(1));
  }
  ::unsetenv("NOTIFY_SOCKET");
}
