// How the offsets of finished records get to the brokers: by the consumer, or in the transaction that holds
// what a handler wrote.
//
// The loop hands the lanes' candidates to commit(), and gets one result(). One commit at a time. On a path
// that is `exact`, an offset and the output written for its record are committed together or not at all: the
// loop asks prepared() until it may take the candidates, the path takes those of all lanes at once, their
// completion maps must be whole, and after a failure() everything since the last commit is done again.
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
  explicit CommitPath(bool is_exact) : exact(is_exact) {}
  virtual ~CommitPath() = default;
  const bool exact;

  /// In requests of at most `most` bytes (kafka/group/commit_parts.h), with one result.
  /// Replaces a commit that has no result yet.
  virtual Status commit(std::vector<kafka::CommittedOffset> offsets, std::size_t most, TimePoint now) = 0;
  /// The consumer answered a commit.
  virtual void on_answer(const kafka::CommitResult& /*answer*/) {}
  /// Returns the result of the commit once; nullopt while there is none.
  virtual std::optional<kafka::CommitResult> result(TimePoint now) = 0;

  // The rest is called only if the path is exact.
  /// Returns true if the candidates may be taken now. Otherwise the path has begun the step that must come
  /// first.
  virtual bool prepared() { return true; }
  /// After prepared(): there is nothing to commit now.
  virtual void put_off() {}
  /// Why everything since the last commit must be done again; nullopt if there was no failure. Not to be
  /// asked while a commit has no result.
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
