// A pool that lends its slots to the pools that it helps, as these see it (Pool::help). lender.cpp: how a
// pool lends and borrows slots, gets and gives back permits, and passes asynchronous work on.
#pragma once

namespace laneway::pool {

class Lender {
 public:
  /// The claim on a lent slot is stuck: another slot replaces the lent one.
  virtual void loan_stuck() = 0;
  /// The claim is finished, or none began. `stuck`: it was found stuck; loan_stuck() may come later than
  /// this.
  virtual void loan_ended(bool stuck) = 0;

 protected:
  ~Lender() = default;
};

}  // namespace laneway::pool
