#include "config/handlers/exec_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "config/text.h"

namespace laneway::config {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string absolute_from(const std::string& folder, const std::string& path) {
  std::error_code failure;
  const auto whole = fs::absolute(fs::path(folder) / path, failure);
  return failure ? path : whole.lexically_normal().string();
}

/// As execvp(3) does it. An empty or relative entry of PATH would mean the working directory, and is left
/// out.
std::vector<std::string> folders_of(const std::optional<std::string>& path) {
  std::vector<std::string> folders;
  for (auto& folder : split(path.value_or("/bin:/usr/bin"), ":"))
    if (folder.starts_with('/')) folders.push_back(std::move(folder));
  return folders;
}

CommandProblem not_found(const std::string& program, const std::vector<std::string>& folders,
                         const CommandPlace& place) {
  std::string what = in_quotes(program) + " is not a program in PATH; ";
  what += folders.empty() ? "PATH names no folder" : "searched " + join(folders, ", ");
  if (is_file(fs::path(place.folder) / program))
    return {std::move(what), "the configuration file's folder has this file: write ./" + program +
                                 ", or the program that runs the file before it, such as python3"};
  return {std::move(what), "write the path of the program, or add its folder to PATH"};
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool names_script(const std::string& word) {
  return is_one_of(fs::path(word).extension().string(),
                   {".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".jar"});
}

/// By its name without a version: python3.11 is python.
bool runs_scripts(const std::string& program) {
  auto name = fs::path(program).filename().string();
  name.resize(std::min(name.find_first_of("0123456789."), name.size()));
  return is_one_of(name, {"python", "sh", "bash", "dash", "zsh", "node", "ruby", "perl", "php", "java"});
}

/// The script that the interpreter would not find: the first argument behind the options, if it looks like a
/// script. After -c, -e or -m, also in one word such as -lc, no argument is a script.
std::optional<CommandProblem> missing_script(const std::vector<std::string>& command,
                                             const CommandPlace& place) {
  if (!runs_scripts(command.front())) return std::nullopt;
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (is_one_of(*word, {"-X", "-W", "-r", "-I", "-cp", "--require", "--import"}) &&
        word + 1 != command.end()) {
      ++word;  // the value of the option
      continue;
    }
    const bool short_options = word->starts_with('-') && !word->starts_with("--");
    if (short_options && is_one_of(word->substr(word->size() - 1), {"c", "e", "m"})) return std::nullopt;
    if (word->starts_with('-')) continue;
    if (!names_script(*word)) return std::nullopt;
    const auto path = absolute_from(place.folder, *word);
    if (is_file(path)) return std::nullopt;
    return CommandProblem{path + " does not exist, or is not a file",
                          "check the path; a relative path begins in the configuration file's folder"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<CommandProblem> why_not_executable(const std::string& program) {
  constexpr const char* hint =
      "name a program that this user may execute: chmod +x, or the program that runs the file, such as "
      "python3, before it";
  const auto refused = [&](const std::string& why, std::string what_to_do) {
    return CommandProblem{program + " cannot be executed: " + why, std::move(what_to_do)};
  };
  const auto reason = [](int error) { return std::generic_category().message(error); };
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0) {
    if (errno != ENOENT) return refused(reason(errno), hint);
    if (program.find(' ') != program.npos)
      return refused("no shell splits this line into words",
                     "write each word by itself: [" + join(split(program, " "), ", ") + "]");
    return refused(reason(ENOENT),
                   "check the path; a relative path begins in the configuration file's folder");
  }
  if (!S_ISREG(info.st_mode)) return refused("this is not a file", hint);
  if (::faccessat(AT_FDCWD, program.c_str(), X_OK, AT_EACCESS) != 0) return refused(reason(errno), hint);
  return std::nullopt;
}

std::optional<CommandProblem> resolve_command(std::vector<std::string>& command, const CommandPlace& place) {
  if (command.empty()) return std::nullopt;
  std::string& program = command.front();
  if (program.find('/') != program.npos) {
    if (!program.starts_with('/')) program = absolute_from(place.folder, program);
    if (auto problem = why_not_executable(program)) return problem;
  } else {
    const auto folders = folders_of(place.path);
    std::string found;
    for (const auto& folder : folders) {
      auto file = (fs::path(folder) / program).string();
      if (!is_file(file) || ::access(file.c_str(), X_OK) != 0) continue;
      found = std::move(file);
      break;
    }
    if (found.empty()) return not_found(program, folders, place);
    program = std::move(found);
  }
  if (auto missing = missing_script(command, place)) return missing;
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (word->empty() || word->front() == '-' || word->front() == '/') continue;
    if (is_file(fs::path(place.folder) / *word)) *word = absolute_from(place.folder, *word);
  }
  return std::nullopt;
}

std::string shown_command(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const auto& word : command) {
    const auto plain = printable(word);
    words.push_back(plain.find_first_of("'\"\\$`;|&<>*?(){}[]!#~") == plain.npos ? plain : in_quotes(word));
  }
  return join(words, " ");
}

}  // namespace laneway::config
