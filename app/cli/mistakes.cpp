#include "app/cli/mistakes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/cli/help.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::cli {
namespace {

/// Words of other programs, and verbs of `dlq` at the wrong place.
constexpr std::array<std::pair<const char*, const char*>, 25> other_verbs{
    {{"start", "run"},           {"serve", "run"},
     {"validate", "check"},      {"lint", "check"},
     {"test", "check"},          {"lanes", "status"},
     {"lag", "status"},          {"ps", "status"},
     {"top", "status --watch"},  {"watch", "status --watch"},
     {"continue", "resume"},     {"unsuspend", "resume"},
     {"unpause", "resume"},      {"stop", "suspend"},
     {"list", "dlq list"},       {"show", "dlq show"},
     {"redrive", "dlq redrive"}, {"replay", "dlq redrive"},
     {"resend", "dlq redrive"},  {"retry", "dlq redrive"},
     {"dead-letters", "dlq"},    {"consume", "run"},
     {"schema", "help keys"},    {"keys", "help keys"},
     {"key", "help keys"}}};
/// The first that the verb has is meant.
constexpr std::array<std::pair<const char*, const char*>, 16> other_options{
    {{"-f", "-c"},
     {"--file", "--config"},
     {"--follow", "--watch"},
     {"--print", "--verbose"},
     {"--override", "--set"},
     {"--address", "--admin"},
     {"--topic", "--set topics=..."},
     {"--topics", "--set topics=..."},
     {"--duration", "--window"},
     {"--duration", "--seconds"},
     {"--secs", "--seconds"},
     {"--latency", "--service-time"},
     {"--brokers", "--set kafka.bootstrap.servers=..."},
     {"--bootstrap-server", "--set kafka.bootstrap.servers=..."},
     {"--bootstrap-servers", "--set kafka.bootstrap.servers=..."},
     {"--group", "--set kafka.group.id=..."}}};

std::string did_you_mean(const std::optional<std::string>& word) {
  return word ? ". Did you mean " + *word + '?' : "";
}

template <class Words>
std::optional<std::string> peer_word(const Words& words, const std::string& given) {
  for (const auto& [theirs, ours] : words)
    if (given == theirs) return std::string(ours);
  return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& verbs) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  return names;
}

/// Null if there is none of the name.
const CLI::App* inner_verb(const CLI::App& parent, const std::string& name) {
  const auto named = parent.get_subcommands([&](const CLI::App* verb) { return verb->check_name(name); });
  return named.empty() ? nullptr : named.front();
}

std::string explained(const CLI::App& verb, const std::string& problem) {
  return path_of(verb) + ": " + problem + "\nsee " + path_of(verb) + " --help\n";
}

/// A key of the configuration, or a section of it.
bool is_key(const std::string& word) {
  const auto& all = config::properties();
  return std::any_of(all.begin(), all.end(), [&](const auto& property) {
    return property.name == word || property.name.starts_with(word + '.');
  });
}

std::string unknown_verb(const CLI::App& parent, const std::string& word) {
  const auto names = names_of(shown_verbs(parent));
  const auto small = config::lower(word);
  auto near = config::nearest(small, names);
  const bool keys = is_key(small) || (!near && config::nearest(small, {"keys"}));
  if (parent.get_parent() == nullptr && keys) near = "help keys";
  if (const auto peer = peer_word(other_verbs, small)) {
    const auto inner = parent.get_name() + ' ';
    if (parent.get_parent() == nullptr)
      near = peer;
    else if (peer->starts_with(inner))
      near = peer->substr(inner.size());
  }
  if (near) return '\'' + word + "' is not a verb" + did_you_mean(path_of(parent) + ' ' + *near);
  if (parent.get_parent() == nullptr) return '\'' + word + "' is not a verb";
  return '\'' + word + "' is not a verb; the verbs are " + config::join(names, ", ");
}

bool has_option(const CLI::App& verb, const std::string& name) {
  return verb.get_option_no_throw(name) != nullptr;
}

std::vector<std::string> long_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const auto& name : option->get_lnames())
      if (name != "help") names.push_back("--" + name);
  return names;
}

/// The dashes do not make two names alike: --json is not near --set.
std::optional<std::string> near_option(const CLI::App& verb, const std::string& name) {
  if (!name.starts_with("--")) return std::nullopt;
  std::vector<std::string> words{"help"};
  for (const auto& option : long_options(verb)) words.push_back(option.substr(2));
  const auto near = config::nearest(config::lower(name.substr(2)), words);
  return near ? std::optional("--" + *near) : near;
}

/// Words of other programs for options that the verb has.
std::optional<std::string> peer_option(const CLI::App& verb, const std::string& name) {
  if ((name == "--version" || name == "-v" || name == "-V") && verb.get_parent() != nullptr)
    return name == "-v" && has_option(verb, "--verbose") ? "--verbose, or laneway version"
                                                         : "laneway version";
  for (const auto& [theirs, ours] : other_options) {
    const std::string option(ours);
    if (name == theirs && has_option(verb, option.substr(0, option.find(' ')))) return option;
  }
  return std::nullopt;
}

/// "--set lanes.workers=..." for "--workers": a key of the configuration whose last word was meant.
std::optional<std::string> key_for(const CLI::App& verb, std::string word) {
  if (!has_option(verb, "--set") || !word.starts_with("--")) return std::nullopt;
  word.erase(0, 2);
  std::replace(word.begin(), word.end(), '-', '_');
  std::vector<std::string> last_words;
  for (const auto& property : config::properties())
    last_words.push_back(property.name.substr(property.name.rfind('.') + 1));
  const auto near = config::nearest(word, last_words);
  // There are so many keys that a short word is near one of them by chance.
  const bool alike = near && (*near == word || (word.size() >= 6 && near->size() + 1 >= word.size()));
  if (!alike) return std::nullopt;
  const auto found = std::find(last_words.begin(), last_words.end(), *near) - last_words.begin();
  return "--set " + config::properties()[static_cast<std::size_t>(found)].name + "=...";
}

std::string unknown_option(const CLI::App& verb, std::string name) {
  name = name.substr(0, name.find('='));
  auto near = peer_option(verb, name);
  for (const auto& option : long_options(verb))
    if (!near && name.size() > 4 && (option.starts_with(name) || name.starts_with(option))) near = option;
  if (!near) near = near_option(verb, name);
  if (!near) near = key_for(verb, name);
  const std::string problem = "there is no option " + name + did_you_mean(near);
  if (near || verb.get_parent() != nullptr) return problem;
  return problem + "; the options of a verb come after the verb";
}

std::string unexpected(const CLI::App& verb, const std::string& word) {
  if (word.size() > 1 && word.starts_with('-')) return unknown_option(verb, word);
  if (!shown_verbs(verb).empty()) return unknown_verb(verb, word);
  const bool file = word.ends_with(".yaml") || word.ends_with(".yml");
  const auto option = file && has_option(verb, "--config") ? std::optional("-c " + word) : std::nullopt;
  return "unexpected argument '" + word + '\'' + did_you_mean(option);
}

const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

/// The required option or argument that was not given, else the verb.
std::string missing(const CLI::App& verb, const std::string& otherwise) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const auto text = option->get_option_text();
    return (option->get_positional() ? text : option->get_name() + ' ' + text) + " is missing";
  }
  const auto names = names_of(shown_verbs(verb));
  if (names.empty()) return otherwise;
  if (verb.get_parent() == nullptr) return "a verb is missing";
  return "a verb is missing: " + config::join(names, ", ");
}

/// In words of ours, which do not depend on the version of CLI11.
std::string reworded(const CLI::App& verb, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (error.get_name() == "RequiredError") return missing(verb, text);
  if (error.get_name() == "ArgumentMismatch") {
    const auto name = text.substr(0, text.find(':'));
    return name + (text.find("received") == text.npos ? " needs a value" : " is given more than once");
  }
  if (const auto between = text.find(" excludes ");
      error.get_name() == "ExcludesError" && between != text.npos)
    return text.substr(0, between) + " and " + text.substr(between + 10) + " cannot be given together";
  // Only flags are converted: numbers are checked before.
  if (const auto name = text.find("--"); error.get_name() == "ConversionError" && name != text.npos)
    return text.substr(name, text.find_first_of(" :=", name) - name) + " takes no value";
  return text;
}

}  // namespace

std::string path_of(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  return parent == nullptr ? verb.get_name() : path_of(*parent) + ' ' + verb.get_name();
}

std::string explain(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& verb = innermost(program);
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent())
    if (const auto words = app->remaining(); !words.empty())
      return explained(*app, unexpected(*app, words.front()));
  return explained(verb, reworded(verb, error));
}

std::string single_dash(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* verb = &program;
  for (const auto& word : words) {
    if (word.starts_with('-')) {
      const auto name = word.substr(0, word.find('='));
      if (name.size() > 3 && name[1] != '-' && has_option(*verb, '-' + name))
        return explained(*verb, "there is no option " + name + did_you_mean('-' + name));
      continue;
    }
    if (const auto* inner = inner_verb(*verb, word); inner != nullptr) verb = inner;
  }
  return "";
}

const CLI::App* find_verb(const CLI::App& program, const std::vector<std::string>& words,
                          std::string& problem) {
  const CLI::App* found = &program;
  for (const auto& word : words) {
    const CLI::App* parent = std::exchange(found, inner_verb(*found, word));
    if (found != nullptr) continue;
    problem = explained(*parent, unexpected(*parent, word));
    return nullptr;
  }
  return found;
}

}  // namespace laneway::cli
