#include "handler/subscribers/subscriber_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr Duration look_interval_of_file = seconds(1);

std::shared_ptr<const config::Subscriber> found_in(const SubscriberFile::List& list, std::string_view name) {
  const auto found =
      std::find_if(list->begin(), list->end(), [&](const auto& each) { return each.name == name; });
  if (found == list->end()) return nullptr;
  return {list, &*found};
}

}  // namespace

/// The version is taken before the content: a file that changes between the two is read once more.
Result<std::unique_ptr<SubscriberFile>> SubscriberFile::open(const std::string& path) {
  const auto version = version_of(path);
  auto read = config::read_subscribers(path);
  if (!read) return read.error();
  auto list = std::make_shared<const std::vector<config::Subscriber>>(std::move(read).value());
  return std::unique_ptr<SubscriberFile>(new SubscriberFile(path, version, std::move(list)));
}

SubscriberFile::List SubscriberFile::current() {
  MutexLock lock(mutex_);
  if (SteadyClock::now() >= looked_at_ + look_interval_of_file) look();
  return list_;
}

SubscriberFile::Found SubscriberFile::find(std::string_view name) {
  if (auto found = found_in(current(), name); found && found->enabled) return {std::move(found), {}};
  MutexLock lock(mutex_);
  look();
  return {found_in(list_, name), problem_};
}

SubscriberFile::Version SubscriberFile::version_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

void SubscriberFile::look() {
  looked_at_ = SteadyClock::now();
  const auto version = version_of(path_);
  if (version == version_) return;
  version_ = version;
  auto read = config::read_subscribers(path_);
  if (!read) {
    problem_ = read.error().text();
    telemetry::error("subscribers not changed: the file has a mistake", {{"error", *problem_}});
    return;
  }
  problem_.reset();
  list_ = std::make_shared<const std::vector<config::Subscriber>>(std::move(read).value());
  telemetry::info("subscribers read", {{"file", path_}, {"subscribers", list_->size()}});
}

}  // namespace laneway::handler
