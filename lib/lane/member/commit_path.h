// How the offsets of what is finished get to the brokers: by the consumer, or in the transaction that holds
// what a handler wrote.
//
// The loop asks prepared() until it may take the lanes' candidates, hands them to commit(), and gets one
// result(). One commit at a time. Where the path is `exact`, no offset may be committed without what was
// written for it, nor the other way round: it takes the candidates of all lanes at once, their completion
// maps must be whole, and after a failure() everything since the last commit is done again.
//
// Ownership: the loop owns it, on its thread; consumer and transaction outlive it. Nothing blocks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/transaction.h"

namespace laneway::lane {

class CommitPath {
 public:
  virtual ~CommitPath() = default;
  virtual bool exact() const = 0;

  /// The candidates may be taken now; else what has to come before has been asked for.
  virtual bool prepared() = 0;
  /// After prepared(): there is nothing that can be committed now.
  virtual void put_off() {}
  virtual Status commit(std::vector<kafka::CommittedOffset> offsets, TimePoint now) = 0;
  /// An answer of the consumer.
  virtual void on_answer(const kafka::CommitResult& /*answer*/) {}
  virtual std::optional<kafka::CommitResult> result(TimePoint now) = 0;
  /// A commit was asked for and has no result yet.
  virtual bool under_way() const = 0;
  /// The result does not matter any more: the next commit need not wait for it. False where it must.
  virtual bool forget() = 0;

  /// Why what was done since the last commit must be done again. Never while a commit is under way.
  virtual std::optional<std::string> failure() const { return std::nullopt; }
  /// Lanes ended whose completions are not committed.
  virtual void fail(const std::string& /*why*/) {}
  /// What was done since the last commit is given up; its handlers have been told to stop.
  virtual void start_over() {}
};

/// `on_change` is called on any thread, and must only signal. `transaction` may be null.
std::unique_ptr<CommitPath> make_commit_path(kafka::Consumer& consumer, kafka::Transaction* transaction,
                                             std::function<void()> on_change);

}  // namespace laneway::lane
