// The answers to requests: httplib's parser and writer with laneway's routing.
//
// Threads: answer() may be called on several threads at a time.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>
#include <vector>

#include "admin/identity/authorization.h"
#include "admin/identity/challenges.h"
#include "admin/server/server.h"

namespace laneway::admin {

class Routes final : private httplib::Server {
 public:
  /// `names`: see host_check.h. `loopback`: see authorization.h.
  Routes(AdminSources sources, std::vector<std::string> names, bool loopback);

  /// The answer to a complete request (request_head.h); empty if the text is no request.
  std::string answer(std::string request);

 private:
  HandlerResponse route(const httplib::Request& request, httplib::Response& response) const;
  bool look(const httplib::Request& request, httplib::Response& response) const;
  void history(const httplib::Request& request, httplib::Response& response) const;
  void live(httplib::Response& response) const;
  void ready(const httplib::Request& request, httplib::Response& response) const;
  void identify(const httplib::Request& request, httplib::Response& response) const;
  std::optional<Refusal> refuse(const httplib::Request& request) const;
  std::optional<Refusal> refuse_proof(const httplib::Request& request) const;
  HandlerResponse begin_change(const httplib::Request& request, httplib::Response& response) const;
  void change(const httplib::Request& request, httplib::Response& response) const;

  const AdminSources sources_;
  const std::vector<std::string> names_;
  const bool loopback_;
  mutable Challenges challenges_;
};

}  // namespace laneway::admin
