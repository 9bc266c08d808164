// The texts of --help: verbs by what a user wants to do, options without types, examples; 80 columns. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

namespace laneway::cli {

/// The groups of the verbs, in the order of the help.
namespace group {
inline constexpr const char* run = "Run and check";
inline constexpr const char* control = "Look and control";
inline constexpr const char* letters = "Dead letters";
inline constexpr const char* plan = "Plan and try";
inline constexpr const char* about = "About laneway";
inline constexpr const char* inner = "Verbs";  ///< verbs of a verb: no group is named
}  // namespace group

/// Set on the program before it gets verbs, which inherit it.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* verb, std::string name, CLI::AppFormatMode mode) const override;
};

/// What follows the options in a verb's help: `notes` (empty: none), wrapped, and the examples.
std::string footer(const std::string& notes, std::initializer_list<const char*> examples);

/// The verbs in the help of `parent`, as a person sees them.
std::vector<const CLI::App*> shown_verbs(const CLI::App& parent);

}  // namespace laneway::cli
