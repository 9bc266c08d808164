#include "app/demo/audit.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace laneway::demo {
namespace {

constexpr std::size_t none = 1000000;  // more than any demo has: a broken line must not cost memory

std::size_t number(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number_unsigned()) return none;
  return std::min(found->get<std::size_t>(), none);
}

}  // namespace

void Audit::follow(const std::string& file) { journals_.push_back({file, {}, {}}); }

void Audit::read() {
  for (auto& journal : journals_) read(journal);
}

void Audit::read(Journal& journal) {
  if (!journal.stream.is_open()) journal.stream.open(journal.file);
  if (!journal.stream.is_open()) return;
  journal.stream.clear();  // the end of the file was not the end of the journal
  std::string piece;
  while (std::getline(journal.stream, piece)) {
    journal.begun += piece;
    if (journal.stream.eof()) return;
    note(journal.begun);
    journal.begun.clear();
  }
}

void Audit::note(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  const bool whole = json.is_object() && json.contains("outcome");
  const std::size_t partition = whole ? number(json, "partition") : none;
  const std::size_t offset = whole ? number(json, "offset") : none;
  if (partition >= successes_.size() || offset == none) {
    ++foreign_;
    return;
  }
  if (json["outcome"] != "success") return;
  auto& successes = successes_[partition];
  if (successes.size() <= offset) successes.resize(offset + 1);
  ++successes[offset];
}

std::uint64_t Audit::processed(std::size_t partition) const {
  const auto& successes = successes_[partition];
  return static_cast<std::uint64_t>(
      std::count_if(successes.begin(), successes.end(), [](auto count) { return count > 0; }));
}

Findings Audit::judge(const std::vector<std::uint64_t>& produced,
                      const std::vector<std::int64_t>& committed) const {
  Findings findings;
  findings.foreign = foreign_;
  for (std::size_t p = 0; p < successes_.size(); ++p) {
    const std::uint64_t below =
        std::min(produced[p], static_cast<std::uint64_t>(std::max<std::int64_t>(committed[p], 0)));
    findings.produced += produced[p];
    findings.committed += below;
    for (std::uint64_t offset = 0; offset < std::max<std::uint64_t>(produced[p], successes_[p].size());
         ++offset) {
      const std::uint32_t times = offset < successes_[p].size() ? successes_[p][offset] : 0;
      if (offset >= produced[p]) {
        findings.foreign += times;
        continue;
      }
      if (times > 0) ++findings.processed;
      if (times > 1) findings.duplicated += times - 1;
      if (times == 0 && offset < below) ++findings.lost;
    }
  }
  return findings;
}

}  // namespace laneway::demo
