// The options of a verb, and checks of their values. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace laneway::cli {

/// Returns what is wrong with the text, or an empty text.
using Check = std::function<std::string(const std::string&)>;

Check whole_number(std::uint64_t least, std::uint64_t most);
Check number(double least, double most);

/// An option, or an argument, whose value the help calls `text`. A check reports what is wrong.
template <class Value>
CLI::Option* add_option(CLI::App& verb, const char* name, const char* text, Value& value,
                        const std::string& what, const Check& check = nullptr) {
  CLI::Option* option = verb.add_option(name, value, what)->option_text(text);
  return check ? option->check(check) : option;
}

/// Makes an option one that can be given several times, with one value each.
inline CLI::Option* repeated(CLI::Option* option) {
  return option->expected(1)->take_all()->allow_extra_args(false);
}

}  // namespace laneway::cli
