#include "handler/plugin/plugin_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>

#include "catch.h"
#include "folders.h"

using namespace laneway;
using namespace laneway::handler;
namespace fs = std::filesystem;

namespace {

std::string library_path(const std::string& name) { return plugin_folder() + "/" + name + ".so"; }

/// A copy of a plugin in a folder of its own.
class Copy {
 public:
  Copy() {
    char name[] = "/tmp/laneway-plugin-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    folder = name;
    file = folder / "plugin.so";
    fs::copy_file(library_path("in_c"), file);
    fs::permissions(file, fs::perms::owner_all);
  }
  ~Copy() { fs::remove_all(folder); }
  Copy(const Copy&) = delete;

  fs::path folder;
  fs::path file;
};

std::string refusal(const std::string& path) {
  const auto table = load_plugin(path);
  REQUIRE_FALSE(table.ok());
  CHECK(table.error().kind == ErrorKind::configuration);
  CHECK_FALSE(table.error().hint.empty());
  return table.error().message;
}

laneway_verdict handle(void*, const laneway_record*, laneway_failure*) { return LANEWAY_DONE; }

}  // namespace

TEST_CASE("a missing file, and one that is not a plugin, are refused with the path") {
  CHECK(refusal("orders.so") == "handler.plugin.library: orders.so: this is not an absolute path");
  CHECK(refusal("/nowhere/orders.so") ==
        "handler.plugin.library: /nowhere/orders.so: No such file or directory");
  CHECK(refusal("/tmp").ends_with("this is not a file"));
  const Copy copy;
  fs::resize_file(copy.file, 100);
  CHECK(refusal(copy.file).find("the library cannot be loaded") != std::string::npos);
}

TEST_CASE("a plugin of another version, or without a required function, is refused") {
  CHECK(refusal(library_path("wrong_version"))
            .ends_with(
                "the plugin was built for version 7 of the plugin interface; this laneway has version 1"));
  CHECK(refusal(library_path("no_symbol")).ends_with("so it is not a plugin of laneway"));
  CHECK(refusal(library_path("no_work")).ends_with("must have exactly one of handle and submit"));
}

TEST_CASE("a file that others can replace is refused") {
  const Copy copy;
  CHECK(check_plugin_file(copy.file).ok());
  fs::permissions(copy.file, fs::perms::others_write, fs::perm_options::add);
  CHECK(refusal(copy.file).ends_with("every user of the machine may write to the file"));
  fs::permissions(copy.file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(copy.folder, fs::perms::others_write, fs::perm_options::add);
  CHECK(refusal(copy.file).ends_with("every user of the machine may write to the folder " +
                                     copy.folder.string()));
}

TEST_CASE("a link is judged by its target") {
  const Copy hidden;
  const Copy copy;
  fs::permissions(hidden.folder, fs::perms::others_write, fs::perm_options::add);
  fs::remove(copy.file);
  fs::create_symlink(hidden.file, copy.file);
  CHECK(refusal(copy.file).ends_with("the folder " + hidden.folder.string()));
}

TEST_CASE("the checked file is loaded, not a later target of the link") {
  const Copy hidden;
  const Copy copy;
  fs::remove(copy.file);
  fs::create_symlink(hidden.file, copy.file);
  const auto table = load_plugin(copy.file);
  REQUIRE(table.ok());
  Dl_info info{};
  REQUIRE(::dladdr(reinterpret_cast<const void*>(table->name), &info) != 0);
  CHECK(info.dli_fname == hidden.file.string());
}

TEST_CASE("a folder of a foreign owner is refused, also that of a link") {
  if (::geteuid() != 0) return;  // only root can give folders away
  const Copy hidden;
  const Copy copy;
  fs::remove(copy.file);
  fs::create_symlink(hidden.file, copy.file);
  CHECK(check_plugin_file(copy.file).ok());
  REQUIRE(::chown(copy.folder.c_str(), 12345, 12345) == 0);
  CHECK(refusal(copy.file).ends_with("the folder " + copy.folder.string() +
                                     " belongs to neither root nor the user that runs laneway"));
  CHECK(check_plugin_file(hidden.file).ok());
  REQUIRE(::chown(hidden.folder.c_str(), 12345, 12345) == 0);
  CHECK(refusal(hidden.file).ends_with("belongs to neither root nor the user that runs laneway"));
}

TEST_CASE("a file of a foreign owner is refused") {
  const Copy copy;
  if (::geteuid() != 0) return;  // only root can give files away
  REQUIRE(::chown(copy.file.c_str(), 12345, 12345) == 0);
  CHECK(refusal(copy.file).ends_with("neither root nor the user that runs laneway"));
}

TEST_CASE("a table that is shorter than that of the first version is refused, and a longer one is cut") {
  CHECK(checked_table(nullptr, "p")
            .error()
            .message.ends_with("does not work with version 1 of the plugin interface"));
  struct Longer {
    laneway_plugin table;
    void* more;
  } longer{{LANEWAY_PLUGIN_ABI, sizeof(Longer), "n", "v", nullptr, handle, nullptr, nullptr}, nullptr};
  const auto known = checked_table(&longer.table, "p");
  REQUIRE(known.ok());
  CHECK(known->handle == handle);
  longer.table.struct_size = sizeof(laneway_plugin) - 1;
  CHECK(checked_table(&longer.table, "p").error().message.find("fewer than") != std::string::npos);
  longer.table.struct_size = sizeof(laneway_plugin);
  longer.table.name = nullptr;
  CHECK(checked_table(&longer.table, "p").error().message.ends_with("has no name or version"));
}
