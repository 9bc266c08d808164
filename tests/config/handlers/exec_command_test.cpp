#include "config/handlers/exec_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch.h"
#include "config/loaded.h"

using namespace laneway::config;
namespace fs = std::filesystem;

namespace {

/// A folder for a configuration file, with a folder `bin` for PATH beside it.
class Folder {
 public:
  Folder() {
    fs::create_directories(path_ / "bin");
    fs::create_directories(path_ / "scripts");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string make(const std::string& name, mode_t mode = 0644) const {
    const auto file = (path_ / name).string();
    std::ofstream(file) << "x\n";
    ::chmod(file.c_str(), mode);
    return file;
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  CommandPlace place() const { return {path_.string(), "relative:" + path("none") + "::" + path("bin")}; }

  std::vector<std::string> resolved(std::vector<std::string> command) const {
    const auto problem = resolve_command(command, place());
    INFO((problem ? problem->what : ""));
    CHECK_FALSE(problem.has_value());
    return command;
  }

 private:
  fs::path path_ = fs::temp_directory_path() / ("laneway-command-" + std::to_string(::getpid()));
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Folder, "a program without a slash is the first executable file in PATH") {
  make("none-executable");
  make("bin/tool", 0755);
  CHECK(resolved({"tool", "-x"}) == Words{path("bin/tool"), "-x"});
  Words command = {"none"};
  make("bin/none", 0644);
  const auto problem = resolve_command(command, place());
  REQUIRE(problem);
  CHECK(problem->what == "\"none\" is not a program in PATH; searched " + path("none") + ", " + path("bin"));
  CHECK(problem->hint == "write the path of the program, or add its folder to PATH");
  CHECK(command == Words{"none"});
  CHECK(resolve_command(command, {path(""), ""})->what ==
        "\"none\" is not a program in PATH; PATH names no folder");
}

TEST_CASE_METHOD(Folder, "a script that has the name of a program and lies beside the file is explained") {
  make("work.py");
  Words command = {"work.py"};
  CHECK(resolve_command(command, place())->hint ==
        "the configuration file's folder has this file: write ./work.py, or the program that runs the file "
        "before it, such as python3");
}

TEST_CASE_METHOD(Folder, "a relative path begins in the folder of the configuration file") {
  make("bin/tool", 0755);
  make("work.py", 0755);
  make("scripts/more.py", 0755);
  CHECK(resolved({"./work.py"}) == Words{path("work.py")});
  CHECK(resolved({"scripts/more.py"}) == Words{path("scripts/more.py")});
  CHECK(resolved({"tool", "work.py", "./scripts/more.py", "scripts/../work.py"}) ==
        Words{path("bin/tool"), path("work.py"), path("scripts/more.py"), path("work.py")});
}

TEST_CASE_METHOD(Folder, "an argument that names no file beside the configuration stays as it is") {
  make("-c");
  const Words same = {"/bin/sh", "-c", "cat; echo $1", "", "scripts", "gone.py", "/etc/passwd", "a b"};
  CHECK(resolved(same) == same);
}

TEST_CASE_METHOD(Folder, "a script that its interpreter would not find is reported") {
  for (const auto* interpreter : {"python3", "bash", "node"}) make(std::string("bin/") + interpreter, 0755);
  make("work.py");
  make("hook.js");
  const auto problem = [this](Words command) {
    const auto found = resolve_command(command, place());
    return found ? found->what + " (" + found->hint + ")" : "";
  };
  const auto missing = [](const std::string& file) {
    return file +
           " does not exist, or is not a file (check the path; a relative path begins in the "
           "configuration file's folder)";
  };
  CHECK(problem({"python3", "gone.py"}) == missing(path("gone.py")));
  CHECK(problem({"python3", "-u", "-X", "dev", "scripts/gone.py", "work.py"}) ==
        missing(path("scripts/gone.py")));
  make("bin/sha256sum", 0755);
  CHECK(problem({"sha256sum", "gone.py"}).empty());  // not an interpreter
  CHECK(problem({"python3", "/none/gone.py"}) == missing("/none/gone.py"));
  CHECK(problem({"node", "hook.js", "gone.js"}).empty());  // an argument of the script
  for (const auto& fine :
       {Words{"python3", "-u", "work.py", "gone.py"}, Words{"python3", "-m", "gone.py"},
        Words{"bash", "-c", "./gone.sh"}, Words{"bash", "-lc", "gone.sh"},
        Words{"python3", "runner", "--out", "gone.py"}, Words{"python3", "gone"}, Words{"python3"}})
    CHECK(problem(fine).empty());
}

TEST_CASE_METHOD(Folder, "a program that cannot be executed is reported") {
  const auto problem = [this](Words command) { return resolve_command(command, place())->what; };
  make("work.py");
  CHECK(problem({"./gone"}) == path("gone") + " cannot be executed: No such file or directory");
  CHECK(problem({"./scripts"}) == path("scripts") + " cannot be executed: this is not a file");
  CHECK(problem({"/usr/bin/env python3"}) ==
        "/usr/bin/env python3 cannot be executed: no shell splits this line into words");
  if (::geteuid() != 0 || ::access(path("work.py").c_str(), X_OK) != 0)
    CHECK(problem({"./work.py"}) == path("work.py") + " cannot be executed: Permission denied");
}

TEST_CASE_METHOD(Folder, "a loaded configuration has the program and the script by their absolute paths") {
  make("bin/tool", 0755);
  make("work.py", 0755);
  std::ofstream(path("orders.yaml")) << "kafka: { bootstrap.servers: a, group.id: g }\ntopics: "
                                        "[orders]\nhandler: { exec: { command: [tool, work.py] } }\n";
  const auto loaded = load({path("orders.yaml"), {}, {{"PATH", path("bin")}}});
  REQUIRE(report(loaded.errors) == "");
  CHECK(std::get<ExecSettings>(loaded.config->handler).command == Words{path("bin/tool"), path("work.py")});
  const auto again = load({path("orders.yaml"), {"handler.exec.command=[\"./work.py\"]"}, {}});
  CHECK(std::get<ExecSettings>(again.config->handler).command == Words{path("work.py")});
  CHECK(report(load({path("orders.yaml"), {}, {{"PATH", path("")}}}).errors) ==
        path("orders.yaml") + ":3:29: handler.exec.command: \"tool\" is not a program in PATH; searched " +
            path("") + " (write the path of the program, or add its folder to PATH)\n");
}

TEST_CASE("a process that does not run the handler does not look up its command") {
  Source source;
  source.runs_handler = false;
  const auto loaded = load_text(
      base.substr(0, base.find("handler")) + "handler: { exec: { command: [no-such-tool] } }\n", source);
  REQUIRE(report(loaded.errors) == "");
  CHECK(std::get<ExecSettings>(loaded.config->handler).command == Words{"no-such-tool"});
}

TEST_CASE("a command is printed in one line") {
  CHECK(shown_command({"/usr/bin/python3", "/etc/work.py", "-x", "a b", "$x", ""}) ==
        "/usr/bin/python3 /etc/work.py -x \"a b\" \"$x\" \"\"");
}
