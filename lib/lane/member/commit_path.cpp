#include "lane/member/commit_path.h"

namespace laneway::lane {
namespace {

constexpr Duration answer_timeout = seconds(10);

class ConsumerCommits final : public CommitPath {
 public:
  explicit ConsumerCommits(kafka::Consumer& consumer) : consumer_(consumer) {}

  bool exact() const override { return false; }
  bool prepared() override { return true; }
  Status commit(std::vector<kafka::CommittedOffset> offsets, TimePoint now) override {
    if (auto status = consumer_.commit(++request_, offsets); !status) return status;
    sent_ = now;
    return {};
  }
  void on_answer(const kafka::CommitResult& answer) override {
    // A commit that was given up may be answered later; that answer does not concern the next commit.
    if (sent_ && answer.request == request_) result_ = answer;
  }
  std::optional<kafka::CommitResult> result(TimePoint now) override {
    if (!result_ && sent_ && now >= *sent_ + answer_timeout)
      result_.emplace().error = "the brokers did not answer";
    if (result_) sent_.reset();
    return std::exchange(result_, std::nullopt);
  }
  bool under_way() const override { return sent_.has_value(); }
  bool forget() override {
    sent_.reset();
    result_.reset();
    return true;
  }

 private:
  kafka::Consumer& consumer_;
  std::uint64_t request_ = 0;  // the last one
  std::optional<TimePoint> sent_;
  std::optional<kafka::CommitResult> result_;
};

class TransactionCommits final : public CommitPath {
  using State = kafka::Transaction::State;

 public:
  TransactionCommits(kafka::Consumer& consumer, kafka::Transaction& transaction,
                     std::function<void()> on_change)
      : consumer_(consumer), transaction_(transaction) {
    transaction_.watch(std::move(on_change));
  }
  ~TransactionCommits() override { transaction_.watch({}); }

  bool exact() const override { return true; }
  bool prepared() override {
    if (transaction_.failure()) return false;
    transaction_.seal();
    return transaction_.state() == State::sealed;
  }
  void put_off() override { transaction_.reopen(); }
  Status commit(std::vector<kafka::CommittedOffset> offsets, TimePoint /*now*/) override {
    transaction_.commit(std::move(offsets), consumer_.group_member());
    sent_ = true;
    return {};
  }
  std::optional<kafka::CommitResult> result(TimePoint /*now*/) override {
    auto result = transaction_.result();
    if (result) sent_ = false;
    return result;
  }
  bool under_way() const override { return sent_; }
  bool forget() override { return !sent_; }

  std::optional<std::string> failure() const override {
    return sent_ ? std::nullopt : transaction_.failure();
  }
  void fail(const std::string& why) override { transaction_.fail(why); }
  void start_over() override { transaction_.abort(); }

 private:
  kafka::Consumer& consumer_;
  kafka::Transaction& transaction_;
  bool sent_ = false;
};

}  // namespace

std::unique_ptr<CommitPath> make_commit_path(kafka::Consumer& consumer, kafka::Transaction* transaction,
                                             std::function<void()> on_change) {
  if (transaction == nullptr) return std::make_unique<ConsumerCommits>(consumer);
  return std::make_unique<TransactionCommits>(consumer, *transaction, std::move(on_change));
}

}  // namespace laneway::lane
