// What is answered to a request: httplib's parser and writer with our routing.
//
// Threads: answer() may be called on several at a time.
#pragma once

#include <httplib.h>

#include <string>
#include <vector>

#include "admin/connection.h"
#include "admin/server.h"

namespace laneway::admin {

class Routes final : private httplib::Server {
 public:
  /// `names`: see host_check.h.
  Routes(AdminSources sources, std::vector<std::string> names);

  /// Reads one request and answers it; closes nothing.
  void answer(Connection& connection);

 private:
  void route(const httplib::Request& request, httplib::Response& response) const;
  void live(httplib::Response& response) const;

  const AdminSources sources_;
  const std::vector<std::string> names_;
};

}  // namespace laneway::admin
