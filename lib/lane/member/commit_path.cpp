#include "lane/member/commit_path.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "kafka/group/commit_parts.h"

namespace laneway::lane {
namespace {

constexpr Duration answer_timeout = seconds(10);

class ConsumerCommits final : public CommitPath {
 public:
  ConsumerCommits(kafka::Consumer& consumer, std::size_t group)
      : CommitPath(false), consumer_(consumer), group_(group) {}

  Status commit(std::vector<kafka::CommittedOffset> offsets, std::size_t most, TimePoint now) override {
    sent_.reset();
    unanswered_.clear();
    result_ = {};
    for (const auto& part : kafka::commit_parts(std::move(offsets), group_, most)) {
      if (auto status = consumer_.commit(++request_, part); !status) {
        if (unanswered_.empty()) return status;
        for (const auto& offset : part) result_.failed.push_back(offset.partition);
        result_.error = status.error().text();
        break;  // the rest is committed with the next commit
      }
      unanswered_.insert(request_);
    }
    sent_ = now;
    return {};
  }
  void on_answer(const kafka::CommitResult& answer) override {
    // A commit that was given up may be answered later; that answer does not concern the next commit.
    if (unanswered_.erase(answer.request) == 0) return;
    std::copy(answer.committed.begin(), answer.committed.end(), std::back_inserter(result_.committed));
    std::copy(answer.failed.begin(), answer.failed.end(), std::back_inserter(result_.failed));
    if (result_.error.empty()) result_.error = answer.error;
    result_.metadata_too_long = result_.metadata_too_long || answer.metadata_too_long;
    result_.perhaps_too_large = result_.perhaps_too_large || answer.perhaps_too_large;
    result_.passing = result_.passing || answer.passing;
  }
  std::optional<kafka::CommitResult> result(TimePoint now) override {
    if (!sent_ || (!unanswered_.empty() && now < *sent_ + answer_timeout)) return std::nullopt;
    if (!unanswered_.empty() && result_.error.empty()) result_.error = "the brokers did not answer";
    sent_.reset();
    unanswered_.clear();
    return std::exchange(result_, {});
  }

 private:
  kafka::Consumer& consumer_;
  const std::size_t group_;    // length of its name
  std::uint64_t request_ = 0;  // the last one
  std::set<std::uint64_t> unanswered_;
  std::optional<TimePoint> sent_;
  kafka::CommitResult result_;  // of the requests that are answered
};

class TransactionCommits final : public CommitPath {
  using State = kafka::Transaction::State;

 public:
  TransactionCommits(kafka::Consumer& consumer, std::size_t group, kafka::Transaction& transaction,
                     std::function<void()> on_change)
      : CommitPath(true), consumer_(consumer), group_(group), transaction_(transaction) {
    transaction_.watch(std::move(on_change));
  }
  ~TransactionCommits() override { transaction_.watch({}); }

  bool prepared() override {
    if (transaction_.failure()) return false;
    transaction_.seal();
    return transaction_.state() == State::sealed;
  }
  void put_off() override { transaction_.reopen(); }
  Status commit(std::vector<kafka::CommittedOffset> offsets, std::size_t most, TimePoint /*now*/) override {
    transaction_.commit(kafka::commit_parts(std::move(offsets), group_, most), consumer_.group_member());
    return {};
  }
  std::optional<kafka::CommitResult> result(TimePoint /*now*/) override { return transaction_.result(); }
  std::optional<std::string> failure() const override { return transaction_.failure(); }
  void fail(const std::string& why) override { transaction_.fail(why); }
  void start_over() override { transaction_.abort(); }

 private:
  kafka::Consumer& consumer_;
  const std::size_t group_;  // length of its name
  kafka::Transaction& transaction_;
};

}  // namespace

std::unique_ptr<CommitPath> make_commit_path(kafka::Consumer& consumer, const std::string& group,
                                             kafka::Transaction* transaction,
                                             std::function<void()> on_change) {
  if (transaction == nullptr) return std::make_unique<ConsumerCommits>(consumer, group.size());
  return std::make_unique<TransactionCommits>(consumer, group.size(), *transaction, std::move(on_change));
}

}  // namespace laneway::lane
