// An admin server with sources for tests, and a client that sends what a test says.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "admin/server/server.h"
#include "catch.h"
#include "send_all.h"

namespace laneway::admin {

inline AdminSources sources() {
  return {[] { return std::string("# TYPE laneway_x gauge\nlaneway_x 1\n"); },
          [] { return service::Liveness{}; },
          [] { return service::Readiness{}; },
          [] { return std::string("{}\n"); },
          [](std::uint64_t after) { return "after " + std::to_string(after) + "\n"; },
          [](const service::ControlRequest& request) {
            return service::ControlAnswer{service::ControlAnswer::Kind::done, request.topic};
          },
          [](const ReloadRequest& request) {
            return service::ControlAnswer{service::ControlAnswer::Kind::done,
                                          request.dry_run ? "would change" : "changed"};
          },
          [] { return std::string(); },
          {"shop", "/etc/laneway/shop.yaml"}};
}

inline std::unique_ptr<Server> started(AdminSources from = sources(), Limits limits = {},
                                       const std::string& listen = "127.0.0.1:0") {
  auto server = Server::start(listen, std::move(from), limits);
  REQUIRE(server.ok());
  return std::move(server).value();
}

/// A client that sends what a test says, byte for byte.
class RawClient {
 public:
  RawClient() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  explicit RawClient(const Server& server) : RawClient() { connect(server); }
  void connect(const Server& server) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server.port());
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;

  bool send(std::string_view bytes) { return send_all(socket_, bytes); }
  /// Until the server ends the connection.
  std::string receive_all() {
    std::string all;
    char part[4096];
    for (auto n = ::recv(socket_, part, sizeof(part), 0); n > 0; n = ::recv(socket_, part, sizeof(part), 0))
      all.append(part, static_cast<std::size_t>(n));
    return all;
  }
  std::string exchange(std::string_view request) {
    send(request);
    return receive_all();
  }

 private:
  int socket_;
};

inline int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

inline bool serves(const Server& server) {
  return status_of(RawClient(server).exchange("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")) == 200;
}

}  // namespace laneway::admin
