// The sub-jobs that a record was split into (Outcome::parts): how many of them are unfinished, and what those
// that are finished have as results, for a pool that gathers them.
//
// Ownership: the sub-jobs share it (Progress::gathering), and it owns the record that was split. Threads: the
// thread of the lane's loop. Nothing blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "handler/record_batch.h"

namespace laneway::handler {

class Gathering {
 public:
  struct Result {
    std::string id;
    std::shared_ptr<Parts> parts;  ///< null if the sub-job has no result, or was given up
    bool given_up = false;         ///< it went to a retry topic or to the dead-letter topic
  };

  /// `whole`: the record that was split; `parts`: the number of its sub-jobs, at least 1; `gatherer`: the
  /// place of the pool that gets their results, -1 if none does.
  Gathering(Item whole, std::size_t parts, int gatherer)
      : whole_(std::move(whole)), left_(parts), gatherer_(gatherer), results_(parts) {}

  const Item& whole() const { return whole_; }
  int gatherer() const { return gatherer_; }
  /// Notes the end of sub-job `index`. Returns true if it was the last one: take() is next.
  bool finish(std::size_t index, Result result) {
    results_[index] = std::move(result);
    return --left_ == 0;
  }
  /// The record that was split, when all its sub-jobs are finished.
  Item take() { return std::move(whole_); }
  /// In the order of the parts.
  const std::vector<Result>& results() const { return results_; }

 private:
  Item whole_;
  std::size_t left_;
  const int gatherer_;
  std::vector<Result> results_;
};

}  // namespace laneway::handler
