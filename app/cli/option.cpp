#include "app/cli/option.h"

#include <charconv>
#include <sstream>

namespace laneway::cli {
namespace {

constexpr double unbounded = 2147483647;  // such a limit is not shown

template <class Number>
Check check_of(const char* kind, Number least, Number most) {
  return [=](const std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && rest == end && value >= least && value <= most) return std::string();
    std::ostringstream problem;
    problem.precision(15);
    problem << '\'' << text << "' is not a " << kind;
    if (static_cast<double>(most) >= unbounded)
      problem << " of at least " << least;
    else
      problem << " from " << least << " to " << most;
    return problem.str();
  };
}

}  // namespace

Check whole_number(std::uint64_t least, std::uint64_t most) { return check_of("whole number", least, most); }

Check number(double least, double most) { return check_of("number", least, most); }

}  // namespace laneway::cli
