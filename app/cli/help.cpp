#include "app/cli/help.h"

#include "config/text.h"

namespace laneway::cli {
namespace {

constexpr std::size_t text_width = 80;
constexpr std::size_t option_column = 26;
constexpr std::size_t verb_column = 12;

/// Words in lines of text_width; each line but the first begins with `indent` blanks. `used`: how many
/// columns of the first line are taken.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t used) {
  std::string out;
  for (const auto& line : config::words_in_lines(text, text_width, indent, used))
    out += (out.empty() ? "" : '\n' + std::string(indent, ' ')) + line;
  return out + '\n';
}

/// A name, and in `column` its description, which begins in the next line if the name is long.
std::string entry(const std::string& name, const std::string& description,
                  std::size_t column = option_column) {
  std::string line = "  " + name;
  if (line.size() + 1 > column)
    line += '\n' + std::string(column, ' ');
  else
    line.resize(column, ' ');
  return line + wrapped(description, column, column);
}

std::string spaced(std::string names) {
  for (auto comma = names.find(','); comma != names.npos; comma = names.find(',', comma + 1))
    names.insert(comma + 1, " ");
  return names;
}

std::string with_text(const std::string& name, const CLI::Option& option) {
  const auto text = option.get_option_text();
  return text.empty() ? name : name + ' ' + text;
}

std::string usage(const CLI::App& verb, const std::string& name) {
  std::string text = "Usage: " + name;
  const bool has_verbs = !shown_verbs(verb).empty() && verb.get_require_subcommand_min() > 0;
  if (has_verbs) text += " VERB";
  for (const CLI::Option* option : verb.get_options())
    if (option->nonpositional() && option->get_required())
      text += ' ' + with_text(option->get_snames().empty() ? "--" + option->get_lnames().front()
                                                           : "-" + option->get_snames().front(),
                              *option);
  text += " [OPTIONS]";
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional())
      text +=
          option->get_required() ? ' ' + option->get_option_text() : " [" + option->get_option_text() + ']';
  return text + '\n';
}

std::string options(const CLI::App& verb) {
  std::string arguments;
  std::string options;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional())
      arguments += entry(option->get_option_text(), option->get_description());
    else if (!option->get_group().empty())
      options += entry(with_text(spaced(option->get_name(false, true)), *option), option->get_description());
  }
  if (!arguments.empty()) arguments = "\nArguments:\n" + arguments;
  return arguments + "\nOptions:\n" + options;
}

std::string verbs(const CLI::App& parent) {
  std::string text;
  std::string last = group::inner;
  for (const CLI::App* verb : shown_verbs(parent)) {
    if (verb->get_group() != last) text += ' ' + verb->get_group() + '\n';
    last = verb->get_group();
    text += entry(verb->get_name(), verb->get_description(), verb_column);
  }
  return text.empty() ? text : "\nVerbs:\n" + text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* verb, std::string name, CLI::AppFormatMode) const {
  std::string text = wrapped(verb->get_description() + '.', 0, 0) + '\n' + usage(*verb, name);
  text += verbs(*verb) + options(*verb);
  return verb->get_footer().empty() ? text : text + '\n' + verb->get_footer();
}

std::string footer(const std::string& notes, std::initializer_list<const char*> examples) {
  std::string text = notes.empty() ? notes : wrapped(notes, 0, 0);
  if (examples.size() == 0) return text;
  if (!text.empty()) text += '\n';
  text += "Examples:\n";
  for (const char* example : examples) text += std::string("  ") + example + '\n';
  return text;
}

std::vector<const CLI::App*> shown_verbs(const CLI::App& parent) {
  return parent.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

}  // namespace laneway::cli
