#include "telemetry/journal_entry.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/poll.h"
#include "telemetry/line.h"

namespace laneway::telemetry {
namespace {

constexpr std::size_t most_entry = 64 * 1024;

/// The numbers of syslog(3), in the order of Level.
constexpr std::array priorities{7, 7, 6, 4, 3};
static_assert(priorities.size() == static_cast<std::size_t>(Level::error) + 1, "a number for each");

/// The journal accepts capital letters, digits and underscores.
std::string journal_name(std::string_view name) {
  std::string out = "LANEWAY_";
  for (const char c : name) {
    const bool letter = c >= 'a' && c <= 'z';
    const bool fits = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += letter ? static_cast<char>(c - 'a' + 'A') : fits ? c : '_';
  }
  return out;
}

/// With the length first, so that a line break in the value cannot begin another field.
void append_journal_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  if (value.find('\n') == value.npos) {
    out += '=';
  } else {
    out += '\n';
    for (std::uint64_t size = value.size(), i = 0; i < 8; ++i) out += static_cast<char>(size >> (8 * i));
  }
  out += value;
  out += '\n';
}

}  // namespace

bool is_journal_stream(std::string_view variable, std::uint64_t device, std::uint64_t inode) {
  return variable == std::to_string(device) + ':' + std::to_string(inode);
}

bool standard_error_is_journal() {
  const char* variable = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return variable != nullptr && ::fstat(2, &status) == 0 &&
         is_journal_stream(variable, status.st_dev, status.st_ino);
}

std::string journal_entry(Level level, std::string_view message, Fields fields) {
  std::string out;
  append_journal_field(out, "MESSAGE", render_message(message, fields));
  append_journal_field(out, "PRIORITY", std::to_string(priorities[static_cast<std::size_t>(level)]));
  append_journal_field(out, "SYSLOG_IDENTIFIER", "laneway");
  for (const Field& field : fields)
    if (is_shown(field)) append_journal_field(out, journal_name(field.name), render_plain(field.value));
  return out;
}

JournalSocket::JournalSocket(std::string path, Duration patience)
    : path_(std::move(path)), patience_(patience) {}

bool JournalSocket::connect() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  Descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.number() < 0 ||
      ::connect(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return false;
  socket_ = std::move(made);
  return true;
}

bool JournalSocket::writable() const {
  const Deadline deadline = Deadline::in(blocked_ ? Duration::zero() : patience_);
  return poll_until(socket_.number(), POLLOUT, deadline) != 0;
}

bool JournalSocket::send(std::string_view entry) {
  bool sent = false;
  // Tries once more if the journal has been restarted since the last entry.
  for (int attempt = 0; attempt < 2 && !sent && entry.size() <= most_entry; ++attempt) {
    if (socket_.number() < 0 && !connect()) break;
    if (!writable()) break;
    sent = ::send(socket_.number(), entry.data(), entry.size(), MSG_NOSIGNAL) >= 0;
    if (!sent && errno != ECONNREFUSED && errno != ENOTCONN && errno != EPIPE) break;
    if (!sent) socket_.close();
  }
  blocked_ = !sent;
  return sent;
}

}  // namespace laneway::telemetry
