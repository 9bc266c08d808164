// Servers for the http handler's tests: a real one, and one that answers what a test says, byte for byte.
#pragma once

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"
#include "eventually.h"
#include "send_all.h"

namespace laneway::handler {

/// cpp-httplib makes some things once, with its first request, behind the compiler's own guard.
/// ThreadSanitizer does not see that guard in a library, and takes threads that meet at it for a race: so
/// they are made before.
inline void make_first_request() {
  httplib::Server server;
  server.Post("/orders", [](const auto&, auto& response) { response.status = 204; });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  const auto answer = httplib::Client("127.0.0.1", port).Post("/orders", "order", "text/plain");
  server.stop();
  thread.join();
  REQUIRE(answer);
}

/// A server of cpp-httplib. That lets five clients wait to be accepted; to others the system says nothing,
/// and they ask again a second later, then two, four and so on.
template <class Library>
class WithRoom : public Library {
 public:
  using Library::Library;
  /// The port; negative when there is none.
  int bind() {
    const int port = this->bind_to_any_port("127.0.0.1");
    return ::listen(this->svr_sock_, 1024) == 0 ? port : -1;
  }
};

/// Answers POST /orders by `answer` and keeps what it was sent.
class HttpServer {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  /// `threads`: a connection keeps one.
  explicit HttpServer(Answer answer, std::size_t threads = 64) {
    static std::once_flag made;
    std::call_once(made, make_first_request);
    server_.Post("/orders", [this, answer = std::move(answer)](const auto& request, auto& response) {
      {
        std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      answer(request, response);
    });
    server_.set_keep_alive_max_count(1000000);
    server_.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
    port_ = server_.bind();
    REQUIRE(port_ > 0);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HttpServer() {
    server_.stop();
    thread_.join();
  }
  HttpServer(const HttpServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/orders"; }
  std::vector<httplib::Request> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  WithRoom<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<httplib::Request> requests_;
};

/// One accepted connection of a RawServer.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;

  /// A whole request; empty when the other side has closed.
  std::string read_request() {
    std::string request;
    std::size_t length = std::string::npos;
    while (request.size() < length) {
      char part[4096];
      const auto count = ::recv(socket_, part, sizeof(part), 0);
      if (count <= 0) return {};
      request.append(part, static_cast<std::size_t>(count));
      if (length != std::string::npos) continue;
      const auto end = request.find("\r\n\r\n");
      const auto field = request.find("Content-Length: ");
      if (end != std::string::npos) length = end + 4 + std::stoul(request.substr(field + 16));
    }
    return request;
  }
  /// Whatever comes next.
  void read_some() const {
    char part[4096];
    static_cast<void>(::recv(socket_, part, sizeof(part), 0));
  }
  /// False when the other side has gone.
  bool write(std::string_view bytes) { return send_all(socket_, bytes); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  /// The other side sees "connection reset by peer".
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }

 private:
  int socket_;
};

/// Calls `serve` for each connection, one after the other, on its own thread; or `side_by_side`, on a thread
/// of each connection.
class RawServer {
 public:
  explicit RawServer(std::function<void(Connection&)> serve, bool side_by_side = false)
      : serve_(std::move(serve)), side_by_side_(side_by_side) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    REQUIRE(::bind(listener_, generic, length) == 0);
    REQUIRE(::getsockname(listener_, generic, &length) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~RawServer() {
    refuse();
    thread_.join();
    for (auto& thread : threads_) thread.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/orders"; }
  int connections() const { return connections_; }
  /// New connections from now on.
  void refuse() const { ::shutdown(listener_, SHUT_RDWR); }

 private:
  void run() {
    for (;;) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      ++connections_;
      if (side_by_side_)
        threads_.emplace_back([this, socket] { serve(socket); });
      else
        serve(socket);
    }
  }
  void serve(int socket) {
    Connection connection(socket);
    serve_(connection);
  }

  std::function<void(Connection&)> serve_;
  const bool side_by_side_;
  std::vector<std::thread> threads_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

/// Answers nobody before `together` requests are there at once, for the first time.
class Gathering {
 public:
  explicit Gathering(int together)
      : together_(together),
        server_([this](const auto&, auto&) { wait(); }, std::max<std::size_t>(64, together)) {}

  std::string url() const { return server_.url(); }
  /// The most requests that were there at once.
  int most() const { return most_; }
  std::size_t connections() {
    std::set<int> ports;
    for (const auto& request : server_.requests()) ports.insert(request.remote_port);
    return ports.size();
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    most_ = std::max<int>(most_, ++present_);
    changed_.notify_all();
    changed_.wait_for(lock, patience, [this] { return most_ >= together_; });
    --present_;
  }

  const int together_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int present_ = 0;
  std::atomic<int> most_{0};
  HttpServer server_;
};

/// Listens, but its queue is full: whoever connects waits for ever.
class FullListener {
 public:
  FullListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(sockets_[0], generic, length) == 0);
    REQUIRE(::getsockname(sockets_[0], generic, &length) == 0);
    REQUIRE(::listen(sockets_[0], 0) == 0);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 8; ++i) {
      sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      static_cast<void>(::connect(sockets_.back(), generic, length));
    }
  }
  ~FullListener() {
    for (const int socket : sockets_) ::close(socket);
  }
  FullListener(const FullListener&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/orders"; }

 private:
  std::vector<int> sockets_;
  int port_ = 0;
};

}  // namespace laneway::handler
