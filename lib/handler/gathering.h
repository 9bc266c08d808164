// The sub-jobs that a record was split into (Outcome::parts): how many of them are unfinished, and what those
// that are finished have as results, for a pool that gathers them.
//
// Ownership: the sub-jobs share it (Progress::gathering), and it owns the record that was split; sub-jobs
// that keep the value of that record use it there. Threads: the thread of the lane's loop; workers read that
// value, which stays until the last sub-job has ended. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
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

  /// Counts of bytes, which outlive the gatherings that add theirs. They may be the same one.
  struct Memory {
    std::uint64_t& of_wholes;
    std::uint64_t& of_results;
  };

  /// `whole`: the record that was split, and `bytes` its memory; `parts`: the number of its sub-jobs, at
  /// least 1; `gatherer`: the place of the pool that gets their results, -1 if none does.
  Gathering(Item whole, std::uint64_t bytes, std::size_t parts, int gatherer, Memory memory)
      : whole_(std::move(whole)), whole_bytes_(bytes), gatherer_(gatherer), memory_(memory) {
    memory_.of_wholes += whole_bytes_;
    add(results_.end(), parts);
  }
  ~Gathering() {
    memory_.of_wholes -= whole_bytes_;
    memory_.of_results -= results_bytes_;
  }
  Gathering(const Gathering&) = delete;

  const Item& whole() const { return whole_; }
  std::uint64_t whole_bytes() const { return whole_bytes_; }
  int gatherer() const { return gatherer_; }
  /// Sub-job `index` is split into `parts` further ones, at least 1, which take its place in the order of the
  /// results. Returns the index of the first one.
  std::size_t split(std::size_t index, std::size_t parts) {
    const auto first = places_.size();
    add(places_[index], parts);
    results_.erase(places_[index]);
    --left_;
    return first;
  }
  /// Notes the end of sub-job `index`. Returns true if it was the last one: take() is next.
  bool finish(std::size_t index, Result result) {
    any_ended_ = true;
    if (result.parts)
      for (const auto& part : *result.parts) use(memory_of(part));
    *places_[index] = std::move(result);
    return --left_ == 0;
  }
  bool any_ended() const { return any_ended_; }
  /// The record that was split, when all its sub-jobs are finished.
  Item take() { return std::move(whole_); }
  /// In the order of the sub-jobs.
  std::vector<Result> take_results() {
    return {std::make_move_iterator(results_.begin()), std::make_move_iterator(results_.end())};
  }

 private:
  using Results = std::list<Result>;

  static std::uint64_t memory_of(const Part& part) {
    return sizeof(Part) + part.headers.size() * sizeof(part.headers.front()) + size_of(part);
  }
  void use(std::uint64_t bytes) {
    results_bytes_ += bytes;
    memory_.of_results += bytes;
  }
  void add(Results::iterator before, std::size_t parts) {
    left_ += parts;
    for (; parts > 0; --parts) places_.push_back(results_.emplace(before));
  }

  Item whole_;
  const std::uint64_t whole_bytes_;
  std::size_t left_ = 0;
  bool any_ended_ = false;
  const int gatherer_;
  Memory memory_;
  std::uint64_t results_bytes_ = 0;
  Results results_;
  std::vector<Results::iterator> places_;  // by the index of the sub-job
};

}  // namespace laneway::handler
