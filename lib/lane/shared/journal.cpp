#include "lane/shared/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/key_hash.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

Error cannot_write(const std::string& file) {
  return {ErrorKind::no_input, "journal.file: cannot write " + file + ": " + std::strerror(errno),
          "the directory must exist, and the service's user must be able to write to it"};
}

Result<Descriptor> open_file(const std::string& file) {
  // A pipe that nobody reads must not hold up who opens it; writing blocks as the file does.
  Descriptor opened(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640));
  if (opened.number() < 0) return cannot_write(file);
  if (::fcntl(opened.number(), F_SETFL, O_APPEND) < 0) return cannot_write(file);
  return opened;
}

/// Names of pools have only letters, digits, '-' and '_'; ids of sub-jobs are anything.
std::string pool_fields(const Journal::Line& entry) {
  auto fields = ",\"pool\":\"" + std::string(entry.pool) + '"';
  if (entry.part.empty()) return fields;
  fields += ",\"part\":\"";
  for (const char c : entry.part) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\' && c != '%') {
      fields += c;
      continue;
    }
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", byte);
    fields += escaped;
  }
  return fields + '"';
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file) {
  auto opened = open_file(file);
  if (!opened) return opened.error();
  return std::unique_ptr<Journal>(new Journal(std::move(opened).value(), file));
}

Status Journal::reopen() {
  auto replaced = replace_file();
  reopen_failed_.store(!replaced, std::memory_order_relaxed);
  return replaced;
}

Status Journal::replace_file() {
  const auto opened = open_file(file_);
  if (!opened) return opened.error();
  cut_.store(false, std::memory_order_relaxed);
  // In one step, so writers need no lock: each write is either to the file before or to this one.
  if (::dup3(opened->number(), opened_.number(), O_CLOEXEC) < 0) return cannot_write(file_);
  return {};
}

Journal::Journal(Descriptor opened, std::string file)
    : opened_(std::move(opened)),
      file_(std::move(file)),
      machine_origin_(std::chrono::steady_clock::now()),
      wall_origin_(duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count()) {}

std::int64_t Journal::wall(TimePoint at) const {
  return wall_origin_ + duration_cast<nanoseconds>(SteadyClock::on_machine(at) - machine_origin_).count();
}

void Journal::write(const Line& entry) {
  char key[20] = "null";
  if (entry.key)
    std::snprintf(key, sizeof key, "\"%016llx\"", static_cast<unsigned long long>(key_hash(*entry.key)));
  // Topic names hold only letters, digits, '.', '_' and '-', at most 249 of them.
  char line[640];
  const int size = std::snprintf(
      line, sizeof line,
      "\n{\"topic\":\"%.*s\",\"partition\":%d,\"offset\":%lld,\"epoch\":%llu,\"attempt\":%u,\"start\":%lld,"
      "\"end\":%lld,"
      "\"outcome\":\"%s\",\"key\":%s",
      static_cast<int>(entry.partition.topic.size()), entry.partition.topic.data(), entry.partition.partition,
      static_cast<long long>(entry.offset), static_cast<unsigned long long>(entry.epoch), entry.attempt,
      static_cast<long long>(wall(entry.start)), static_cast<long long>(wall(entry.end)), entry.outcome, key);
  if (entry.pool.empty()) {
    line[size] = '}';
    line[size + 1] = '\n';
    return append({line, static_cast<std::size_t>(size) + 2});
  }
  append(std::string(line, static_cast<std::size_t>(size)) + pool_fields(entry) + "}\n");
}

/// `line` begins with the end of the line before, in case a full file system cut that line.
void Journal::append(std::string_view line) {
  if (!cut_.exchange(false, std::memory_order_relaxed)) line.remove_prefix(1);
  const auto written = ::write(opened_.number(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  const std::string why =
      written < 0 ? std::strerror(errno) : "only part of the line was written; the file system may be full";
  lost_lines_.fetch_add(1, std::memory_order_relaxed);
  if (written > 0 || line.front() == '\n') cut_.store(true, std::memory_order_relaxed);
  telemetry::log_repeating(
      telemetry::Level::error, "journal not written: " + why, "journal not written",
      {{"file", file_}, {"error", why}, {"hint", "records still run, and the journal lacks these attempts"}});
}

}  // namespace laneway::lane
