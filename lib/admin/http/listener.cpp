#include "admin/http/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "admin/http/host_check.h"
#include "base/decimal.h"

namespace laneway::admin {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr int backlog = 256;

Error not_an_address(const std::string& address) {
  return {
      ErrorKind::configuration, "admin.listen: '" + address + "' is not host:port",
      "use an address such as 127.0.0.1:9644, [::1]:9644 or 127.0.0.1:9644-9659; port 0 takes any free port"};
}

Error cannot_listen(const std::string& address, const std::string& why) {
  return {ErrorKind::unavailable, "cannot listen on " + address + ": " + why,
          "set admin.listen to an address of this machine with a free port, or admin.enabled: false"};
}

Error taken(const std::string& address, bool range) {
  if (range)
    return {ErrorKind::unavailable,
            "cannot listen on " + address +
                ": other programs have all of these ports; name a free one in admin.listen",
            "or set admin.enabled: false"};
  return {ErrorKind::unavailable,
          "cannot listen on " + address +
              ": Address already in use; give each service of a machine an admin.listen of its own",
          "without admin.listen in its file, a service takes the first free port from 9644 to 9659"};
}

std::string error_text(int number) { return std::generic_category().message(number); }

/// Invalid, with errno set, if the address is unavailable.
Descriptor bound_socket(const addrinfo& address) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.number() < 0) return {};
  const int yes = 1;
  // A restart can take the port over at once. Not SO_REUSEPORT: two services would share the port unnoticed.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (address.ai_family == AF_INET6 &&
      IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_addr)) {
    const int no = 0;
    ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  const bool ready = ::bind(socket.number(), address.ai_addr, address.ai_addrlen) == 0 &&
                     ::listen(socket.number(), backlog) == 0;
  const int error = errno;
  if (!ready) socket.close();
  errno = error;
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET)
    return ntohl(reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return address.ai_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_addr) != 0;
}

/// The first address that can be used; invalid, with errno set, if there is none.
Descriptor first_bound(const addrinfo* list, Listener& listener) {
  for (; list != nullptr; list = list->ai_next) {
    Descriptor socket = bound_socket(*list);
    if (socket.number() < 0) continue;
    listener.port = port_of(socket.number());
    listener.loopback = is_loopback(*list);
    return socket;
  }
  return {};
}

}  // namespace

std::optional<Address> address_of(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto host = std::string(host_of(text));
  if (colon == std::string::npos || host.empty() || host == text) return std::nullopt;
  const auto ports = std::string_view(text).substr(colon + 1);
  const auto dash = ports.find('-');
  const auto first = decimal<std::uint16_t>(ports.substr(0, dash));
  const auto last = dash == ports.npos ? first : decimal<std::uint16_t>(ports.substr(dash + 1));
  if (!first || !last || *last < *first || (dash != ports.npos && *first == 0)) return std::nullopt;
  return Address{host, *first, *last};
}

std::vector<std::string> addresses_in(const std::string& text) {
  const auto address = address_of(text);
  if (!address || address->last == address->port) return {text};
  const auto host = text.substr(0, text.rfind(':') + 1);
  std::vector<std::string> all;
  for (unsigned port = address->port; port <= address->last; ++port)
    all.push_back(host + std::to_string(port));
  return all;
}

Result<Listener> listen_on(const std::string& address) {
  const auto wish = address_of(address);
  if (!wish) return not_an_address(address);
  for (unsigned port = wish->port; port <= wish->last; ++port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int code = ::getaddrinfo(wish->host.c_str(), std::to_string(port).c_str(), &wanted, &list);
    if (code != 0) return cannot_listen(address, code == EAI_SYSTEM ? error_text(errno) : gai_strerror(code));
    const Addresses addresses(list, &freeaddrinfo);
    Listener listener;
    listener.socket = first_bound(list, listener);
    if (listener.socket.number() >= 0) return listener;
    if (errno != EADDRINUSE) return cannot_listen(address, error_text(errno));
  }
  return taken(address, wish->last != wish->port);
}

}  // namespace laneway::admin
