#include "config/yaml/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.h"
#include "config/text.h"

namespace laneway::config {
namespace {

Error no_input(std::string what, std::string hint) {
  return {ErrorKind::no_input, std::move(what), std::move(hint)};
}

Error failed_call(const char* verb, int number) {
  return no_input(std::string("the file cannot be ") + verb + ": " + std::generic_category().message(number),
                  number == ENOENT ? "check the path" : "check the file's owner and mode");
}

Result<std::string> read_all(int descriptor) {
  std::string content;
  std::string chunk(64 * 1024, '\0');
  while (true) {
    const auto got = ::read(descriptor, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_call("read", errno);
    if (got == 0) return content;
    content.append(chunk, 0, static_cast<std::size_t>(got));
    if (content.size() > max_file_bytes)
      return wrong_value("the file is larger than 1MiB", "check that this is the right file");
  }
}

/// `accept` sees the open file's status and may refuse the file.
template <class Accept>
Result<std::string> read_accepted(const std::string& path, Accept accept) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return failed_call("opened", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return failed_call("read", errno);
  if (S_ISDIR(status.st_mode)) return no_input("this is a directory", "name a file in the directory");
  if (!S_ISREG(status.st_mode)) return no_input("this is not a regular file", "name a regular file");
  if (Status accepted = accept(status); !accepted) return accepted.error();
  return read_all(file.number());
}

Status only_for_owners(const struct stat& status) {
  if ((status.st_mode & (S_IROTH | S_IWOTH)) == 0) return {};
  return wrong_value("everyone on this machine may read or write the file",
                     "a file with a secret must be private: chmod o-rw FILE");
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  return read_accepted(path, [](const struct stat&) { return Status(); });
}

Result<std::string> read_secret(const std::string& path) {
  auto content = read_accepted(path, only_for_owners);
  if (!content) {
    Error error = content.error();
    error.kind = ErrorKind::configuration;
    return error;
  }
  if (content->ends_with('\n')) content->pop_back();
  if (content->ends_with('\r')) content->pop_back();
  if (content->empty()) return wrong_value("the file is empty", "write the secret into the file");
  return content;
}

Status check_owners_only(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? only_for_owners(status) : Status();
}

Result<std::string> read_token(const std::string& path) {
  auto token = read_secret(path);
  if (token && (!is_ascii(*token) || token->find(' ') != token->npos))
    return wrong_value("the token contains a blank, a line break or a character that is not ASCII",
                       "create a token with: openssl rand -hex 32");
  return token;
}

Result<std::string> read_header_value(const std::string& path) {
  auto value = read_secret(path);
  if (value && !is_ascii(*value))
    return wrong_value("the file contains a line break or a character that is not ASCII",
                       "write one line, such as Bearer and a token");
  return value;
}

Result<std::string> read_certificates(const std::string& path) {
  auto content = read_file(path);
  if (content && content->find("-----BEGIN CERTIFICATE-----") == content->npos)
    return wrong_value("the file contains no certificate",
                       "expected a PEM file with a line -----BEGIN CERTIFICATE-----");
  return content;
}

}  // namespace laneway::config
