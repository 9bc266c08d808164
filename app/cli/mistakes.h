// What is wrong with a command line, as one sentence with the nearest right word, and where to read on. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace laneway::cli {

/// "laneway dlq list"
std::string path_of(const CLI::App& verb);

/// `error`: the exception of program.parse(). Two lines: "laneway chek: ...", "see ...".
std::string explain(const CLI::App& program, const CLI::ParseError& error);

/// The mistake -config for --config, which would be read as the option -c with the value "onfig"; empty if no
/// word has it. `words`: the command line.
std::string single_dash(const CLI::App& program, const std::vector<std::string>& words);

/// The verb that `words` name, such as {"dlq", "list"}; the program if there are no words; nullptr if there
/// is no such verb, and then `problem` has the two lines.
const CLI::App* find_verb(const CLI::App& program, const std::vector<std::string>& words,
                          std::string& problem);

}  // namespace laneway::cli
