// How the offsets of finished records get to the brokers: by the consumer, or in the transaction that holds
// what a handler wrote.
//
// The loop asks prepared() until it may take the lanes' candidates, hands them to commit(), and gets one
// result(). One commit at a time. On a path that is `exact`, an offset and the output written for its record
// are committed together or not at all: the path takes the candidates of all lanes at once, their completion
// maps must be whole, and after a failure() everything since the last commit is done again.
//
// Ownership: the loop owns the path, on its thread; consumer and transaction outlive it. Nothing blocks.
#pragma once

#include <cstddef>
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

  /// Returns true if the candidates may be taken now. Otherwise the path has begun the step that must come
  /// first.
  virtual bool prepared() = 0;
  /// After prepared(): there is nothing to commit now.
  virtual void put_off() {}
  /// In requests of at most `most` bytes (kafka/group/commit_parts.h), with one result.
  virtual Status commit(std::vector<kafka::CommittedOffset> offsets, std::size_t most, TimePoint now) = 0;
  /// The consumer answered a commit.
  virtual void on_answer(const kafka::CommitResult& /*answer*/) {}
  virtual std::optional<kafka::CommitResult> result(TimePoint now) = 0;
  /// A commit was asked for and has no result yet.
  virtual bool under_way() const = 0;
  /// The result is not needed any more. Returns false if the next commit must still wait for it.
  virtual bool forget() = 0;

  /// Why everything since the last commit must be done again; nullopt if there was no failure. Never set
  /// while a commit is under way.
  virtual std::optional<std::string> failure() const { return std::nullopt; }
  /// Lanes ended with completions that are not committed.
  virtual void fail(const std::string& /*why*/) {}
  /// Everything since the last commit is given up; the handlers have been told to stop.
  virtual void start_over() {}
};

/// `on_change` is called on any thread, and must only signal. `transaction` may be null.
std::unique_ptr<CommitPath> make_commit_path(kafka::Consumer& consumer, const std::string& group,
                                             kafka::Transaction* transaction,
                                             std::function<void()> on_change);

}  // namespace laneway::lane
