#include "config/handlers/exec_command.h"

#include <unistd.h>

#include <filesystem>
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

/// Interpreters take the first argument with such an end as the file to run.
bool names_script(const std::string& word) {
  for (const auto* end : {".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".jar"})
    if (word.ends_with(end) && word.find_first_of(" ;|&$") == word.npos) return true;
  return false;
}

bool runs_scripts(const std::string& program) {
  const auto name = fs::path(program).filename().string();
  for (const auto* interpreter :
       {"python", "sh", "bash", "dash", "zsh", "node", "ruby", "perl", "php", "java"})
    if (name.starts_with(interpreter)) return true;
  return false;
}

/// The script that the interpreter would not find. After -c, -e or -m, the arguments are no file.
std::optional<CommandProblem> missing_script(const std::vector<std::string>& command,
                                             const CommandPlace& place) {
  if (!runs_scripts(command.front())) return std::nullopt;
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (*word == "-c" || *word == "-e" || *word == "-m") return std::nullopt;
    if (word->starts_with('-') || !names_script(*word)) continue;
    const auto path = absolute_from(place.folder, *word);
    if (is_file(path)) return std::nullopt;
    return CommandProblem{path + " does not exist, or is not a file",
                          "check the path; a relative path begins in the configuration file's folder"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<CommandProblem> resolve_command(std::vector<std::string>& command, const CommandPlace& place) {
  if (command.empty()) return std::nullopt;
  std::string& program = command.front();
  if (program.find('/') != program.npos) {
    if (!program.starts_with('/')) program = absolute_from(place.folder, program);
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
