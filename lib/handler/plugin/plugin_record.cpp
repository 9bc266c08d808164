#include "handler/plugin/plugin_record.h"

#include <algorithm>
#include <cstring>

#include "handler/format/delivery_id.h"
#include "handler/format/results.h"

namespace laneway::handler {
namespace {

constexpr std::size_t longest_plugin_reason = 1024;
constexpr std::int64_t longest_delay_ms = 24LL * 3600 * 1000;

laneway_bytes bytes_of(std::string_view text) {
  return {text.data() == nullptr ? "" : text.data(), text.size()};
}

std::optional<std::string> copy_of(const laneway_bytes& bytes) {
  if (bytes.data == nullptr) return std::nullopt;
  return std::string(bytes.data, bytes.size);
}

std::size_t size_of(const laneway_result& result) {
  std::size_t size = result.key.size + result.value.size;
  for (std::uint32_t i = 0; i < result.header_count; ++i)
    size += result.headers[i].name.size + result.headers[i].value.size;
  return size;
}

laneway_bytes bytes_of(const std::optional<std::string_view>& text) {
  return text ? bytes_of(*text) : laneway_bytes{nullptr, 0};
}

}  // namespace

void PluginRecord::show(const Attempt& begun) {
  const Content& shown = begun.record;
  topic = bytes_of(shown.topic());
  key = bytes_of(shown.key());
  value = bytes_of(shown.value());
  offset = shown.offset();
  timestamp = shown.timestamp();
  partition = shown.partition();
  attempt = begun.number;
  // Copied after the reads: they would wait for the copy, and the cache misses of the records would not
  // overlap. The copy shares what a decoder keeps in the Content.
  begun_.emplace(begun);
  delivery_id_.clear();
  headers_read_ = false;
  results_.reset();
}

const std::string& PluginRecord::delivery_id() const {
  if (delivery_id_.empty()) append_delivery_id(delivery_id_, *begun_);
  return delivery_id_;
}

const std::vector<kafka::Header>& PluginRecord::headers() const {
  if (!headers_read_) {
    headers_ = begun_->record.headers(begun_->trace);
    headers_read_ = true;
  }
  return headers_;
}

laneway_header PluginRecord::header(std::size_t index) const {
  if (index >= headers().size()) return {};
  const kafka::Header& header = headers_[index];
  return {bytes_of(header.name), bytes_of(header.value)};
}

/// The limits are checked before anything is copied.
std::string PluginRecord::add_result(const laneway_result* result) const {
  if (!results_) results_ = std::make_unique<Results>();
  auto& [parts, size, wrong] = *results_;
  if (result == nullptr || !wrong.empty()) return wrong;
  size += size_of(*result);
  if (parts.size() >= most_results)
    wrong = "more than " + std::to_string(most_results) + " results";
  else if (size > largest_results)
    wrong = "results of more than " + std::to_string(largest_results) + " bytes";
  else
    wrong = wrong_result_id({result->id.data, result->id.size});
  if (!wrong.empty()) return wrong;
  Part& part = parts.emplace_back();
  part.id = copy_of(result->id).value_or("");
  part.key = copy_of(result->key);
  part.value = copy_of(result->value);
  for (std::uint32_t i = 0; i < result->header_count; ++i) {
    const auto& header = result->headers[i];
    part.headers.emplace_back(copy_of(header.name).value_or(""), copy_of(header.value));
  }
  return {};
}

Outcome PluginRecord::with_results() const {
  const auto wrong = results_->wrong.empty() ? wrong_results(results_->parts) : results_->wrong;
  if (wrong.empty()) return Outcome::done(std::move(results_->parts));
  return Outcome::panic("the plugin gave " + wrong);
}

Outcome plugin_outcome(laneway_verdict verdict, std::int64_t after_ms, const char* reason) {
  const char* text = reason == nullptr ? "" : reason;
  std::string words(text, ::strnlen(text, longest_plugin_reason));
  std::optional<Duration> after;
  if (after_ms >= 0) after = milliseconds(std::min(after_ms, longest_delay_ms));
  switch (verdict) {
    case LANEWAY_DONE:
      return Outcome::done();
    case LANEWAY_RETRY:
      return Outcome::retry(std::move(words), after);
    case LANEWAY_REJECT:
      return Outcome::reject(std::move(words));
    case LANEWAY_UNAVAILABLE:
      return Outcome::unavailable(std::move(words), after);
    default:
      break;
  }
  return Outcome::panic("the plugin answered " + std::to_string(verdict) + ", which is not a verdict");
}

}  // namespace laneway::handler
