#include "handler/http/http_batch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/outside_json.h"
#include "handler/format/verdict_json.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto begin = text.find_first_not_of(blank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

enum class Claim : std::uint8_t { none, verdicts, unreadable };

/// Reads as much of an answer as is needed to see whether it is a list of verdicts: the first object, alone
/// or in an array, up to its `outcome`. The answer may be long, cut, and nested arbitrarily deep.
class ClaimReader final : public json::json_sax_t {
 public:
  ClaimReader(std::size_t size, bool array) : size_(size), level_(array ? 2 : 1) {}
  Claim claim() const { return claim_; }

  bool null() override { return within_first(); }
  bool boolean(bool) override { return within_first(); }
  bool number_integer(json::number_integer_t) override { return within_first(); }
  bool number_unsigned(json::number_unsigned_t) override { return within_first(); }
  bool number_float(json::number_float_t, const std::string&) override { return within_first(); }
  bool string(std::string&) override { return within_first(); }
  bool binary(json::binary_t&) override { return within_first(); }
  bool start_object(std::size_t) override {
    ++depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ != level_ || name != "outcome") return true;
    return is(Claim::verdicts);
  }
  bool end_object() override { return --depth_ >= level_; }
  bool start_array(std::size_t) override {
    const bool is_list = level_ == 2 && depth_ == 0;
    if (!is_list && !within_first()) return false;
    ++depth_;
    return true;
  }
  bool end_array() override {
    return --depth_ == 0 ? is(Claim::verdicts) : true;  // the list ends without an object: it is empty
  }
  /// The caller judges an answer that ended before the first object was complete.
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    ran_out_ = position > size_;
    return is(depth_ >= level_ ? Claim::unreadable : Claim::none);
  }
  bool ran_out() const { return ran_out_; }

 private:
  /// Returning false ends the reading.
  bool within_first() const { return depth_ >= level_; }
  bool is(Claim claim) {
    claim_ = claim;
    return false;
  }

  const std::size_t size_;
  const std::size_t level_;  // the depth of the first object
  std::size_t depth_ = 0;
  Claim claim_ = Claim::none;
  bool ran_out_ = false;
};

/// `text` begins with [ or {. A verdict never begins beyond the kept beginning of an answer, and a single
/// object that cannot be read is not a verdict.
Claim claim_of(std::string_view text, bool cut) {
  ClaimReader reader(text.size(), text[0] == '[');
  json::sax_parse(text, &reader, json::input_format_t::json, false);
  const bool other = text[0] == '{' || (cut && reader.ran_out());
  return reader.claim() == Claim::unreadable && other ? Claim::none : reader.claim();
}

/// One JSON value for each line; a line that is not JSON yields a discarded value.
std::vector<json> lines_of(std::string_view text) {
  std::vector<json> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    if (!line.empty()) lines.push_back(parse_outside_json(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The values of a list of verdicts; nullopt if the body is not such a list. An error if the list cannot be
/// read.
Result<std::optional<std::vector<json>>> list_in(std::string_view body, bool cut) {
  using List = std::optional<std::vector<json>>;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (body.starts_with(byte_order_mark)) body.remove_prefix(byte_order_mark.size());
  const auto text = trimmed(body);
  if (text.empty() || (text[0] != '[' && text[0] != '{')) return List();
  const Claim claim = claim_of(text, cut);
  if (claim == Claim::none) return List();
  if (cut) return nonsense("is longer than a list of verdicts may be");
  json whole = parse_outside_json(text);  // a single verdict may extend over several lines
  if (text[0] == '{' && whole.is_discarded()) return List(lines_of(text));
  if (claim == Claim::unreadable || whole.is_discarded())
    return nonsense("is not JSON: " + telemetry::excerpt(text));
  if (whole.is_object()) whole = json::array({std::move(whole)});
  return List(std::move(whole.get_ref<json::array_t&>()));
}

Result<std::vector<Outcome>> verdicts_in(const std::vector<json>& list, std::size_t records,
                                         std::string_view body, const std::vector<const Content*>& asked) {
  if (list.size() != records)
    return nonsense("has " + std::to_string(list.size()) + " verdicts for " + std::to_string(records) +
                    " records");
  std::vector<Outcome> outcomes;
  for (const json& value : list) {
    if (!value.is_object())
      return nonsense("has a verdict that is not a JSON object: " + telemetry::excerpt(body));
    auto outcome = verdict_of_json(value, body, asked.empty() ? nullptr : asked[outcomes.size()]);
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(outcome).value());
  }
  return outcomes;
}

}  // namespace

std::size_t longest_verdicts(std::size_t records) { return 64 * 1024 + records * 256; }

std::string batch_content_type(config::BatchFormat format) {
  return format == config::BatchFormat::json ? "application/json" : "application/x-ndjson";
}

std::string batch_body(config::BatchFormat format, const std::vector<std::string>& records) {
  const bool array = format == config::BatchFormat::json;
  std::string body = array ? "[" : "";
  for (const std::string& record : records) {
    if (array && body.size() > 1) body += ",\n";
    body += record;
    if (!array) body += '\n';
  }
  return array ? body + ']' : body;
}

void add_batch_headers(std::size_t records, RequestHeaders& headers) {
  headers.add("Laneway-Records", std::to_string(records));
}

bool is_spoilt(const HttpAnswer& answer, std::size_t records, const std::string& server,
               const AnswerRules& rules) {
  return records > 1 && verdict_of(answer, server, rules).verdict == Verdict::reject;
}

std::vector<Outcome> batch_verdicts(const HttpAnswer& answer, std::size_t records, const std::string& server,
                                    const AnswerRules& rules, const std::vector<const Content*>& asked) {
  const Outcome all = verdict_of(answer, server, rules);
  if (all.verdict == Verdict::done) {
    const auto unfit = [&](const Error& error) {
      return std::vector(records, Outcome::retry("the answer of " + server + " " + error.message));
    };
    const auto list = list_in(answer.body, answer.cut);
    if (!list) return unfit(list.error());
    if (*list) {
      auto outcomes = verdicts_in(**list, records, answer.body, asked);
      return outcomes ? std::move(outcomes).value() : unfit(outcomes.error());
    }
  }
  return std::vector(records, all);
}

}  // namespace laneway::handler
