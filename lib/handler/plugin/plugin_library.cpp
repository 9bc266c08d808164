#include "handler/plugin/plugin_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace laneway::handler {
namespace {

constexpr const char* rebuild =
    "build the plugin against the headers of this laneway (include/laneway/plugin.h)";

Error refused_library(const std::string& path, const std::string& what, std::string hint) {
  return {ErrorKind::configuration, "handler.plugin.library: " + path + ": " + what, std::move(hint)};
}

bool trusted_owner(const struct stat& status) { return status.st_uid == 0 || status.st_uid == ::geteuid(); }

/// The owner of a folder, and everybody who may write to the folder, can replace the plugin by another file.
Status check_folder(const std::string& path, const std::filesystem::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0)
    return refused_library(
        path, "cannot examine " + folder.string() + ": " + std::generic_category().message(errno), "");
  if (!trusted_owner(status))
    return refused_library(
        path, "the folder " + folder.string() + " belongs to neither root nor the user that runs laneway",
        "chown root " + folder.string());
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !sticky)
    return refused_library(path, "every user of the machine may write to the folder " + folder.string(),
                           "chmod o-w " + folder.string());
  return {};
}

Status check_folders_above(const std::string& path, const std::filesystem::path& file) {
  for (auto folder = file.parent_path();; folder = folder.parent_path()) {
    if (auto checked = check_folder(path, folder); !checked) return checked;
    if (folder == folder.root_path()) return {};
  }
}

}  // namespace

Result<std::string> check_plugin_file(const std::string& path) {
  if (!path.starts_with('/'))
    return refused_library(path, "this is not an absolute path",
                           "begin the path with /, such as /usr/lib/laneway/orders.so");
  std::error_code failure;
  const auto real = std::filesystem::canonical(path, failure);
  if (failure) return refused_library(path, failure.message(), "name the shared library of the plugin");
  struct stat status {};
  if (::lstat(real.c_str(), &status) != 0)
    return refused_library(path, std::generic_category().message(errno),
                           "name the shared library of the plugin");
  if (!S_ISREG(status.st_mode))
    return refused_library(path, "this is not a file", "name the shared library of the plugin");
  if (!trusted_owner(status))
    return refused_library(path, "the file belongs to neither root nor the user that runs laneway",
                           "chown root " + real.string());
  if ((status.st_mode & S_IWOTH) != 0)
    return refused_library(path, "every user of the machine may write to the file",
                           "chmod o-w " + real.string());
  if (auto checked = check_folders_above(path, real); !checked) return checked.error();
  // Also checks the folders that contain the links on the path: whoever may replace a link chooses the file.
  if (auto checked = check_folders_above(path, path); !checked) return checked.error();
  return real.string();
}

Result<laneway_plugin> load_plugin(const std::string& path) {
  const auto real = check_plugin_file(path);
  if (!real) return real.error();
  void* library = ::dlopen(real->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return refused_library(path, std::string("the library cannot be loaded: ") + ::dlerror(),
                           "the file must be a shared library for this machine, and the libraries that it "
                           "uses must be installed; check with ldd");
  using Entry = const laneway_plugin* (*)(std::uint32_t);
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "laneway_plugin_table"));
  if (entry == nullptr)
    return refused_library(
        path, "the library does not export laneway_plugin_table, so it is not a plugin of laneway",
        "end the plugin's source with LANEWAY_PLUGIN(…), or export the function (include/laneway/plugin.h)");
  return checked_table(entry(LANEWAY_PLUGIN_ABI), path);
}

Result<laneway_plugin> checked_table(const laneway_plugin* table, const std::string& path) {
  if (table == nullptr)
    return refused_library(path,
                           "the plugin does not work with version " + std::to_string(LANEWAY_PLUGIN_ABI) +
                               " of the plugin interface",
                           rebuild);
  if (table->abi_version != LANEWAY_PLUGIN_ABI)
    return refused_library(path,
                           "the plugin was built for version " + std::to_string(table->abi_version) +
                               " of the plugin interface; this laneway has version " +
                               std::to_string(LANEWAY_PLUGIN_ABI),
                           rebuild);
  constexpr std::size_t smallest = offsetof(laneway_plugin, shutdown) + sizeof(table->shutdown);
  if (table->struct_size < smallest)
    return refused_library(path,
                           "the plugin's table has " + std::to_string(table->struct_size) +
                               " bytes, fewer than " + std::to_string(smallest),
                           "set struct_size to sizeof(laneway_plugin)");
  laneway_plugin known{};
  std::memcpy(&known, table, std::min<std::size_t>(table->struct_size, sizeof known));
  if (known.name == nullptr || known.version == nullptr)
    return refused_library(path, "the plugin's table has no name or version", "set both");
  if ((known.handle == nullptr) == (known.submit == nullptr))
    return refused_library(path, "the plugin's table must have exactly one of handle and submit",
                           "set one of them, and leave the other NULL");
  return known;
}

}  // namespace laneway::handler
