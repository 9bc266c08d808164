// A bounded worker pool: at most `workers` jobs at work and `queue` waiting; what does not fit is refused at
// once.
//
// Ownership: batches belong to the submitter, Work outlives the pool. Threads: one producer thread calls
// try_submit, notify_at, resize, withdraw, expire, kick, close and join; finish, cancel, drained, limits and
// snapshot may come from any. Nothing here blocks except join and the destructor (which joins). Workers start
// on demand and leave after `idle` without work.
//
// Admission counts jobs that are not finished: submit takes while outstanding < workers + queue. So with
// every worker held at work exactly workers + queue jobs are in, and the next is Full, however claims were
// cut. A sequential batch counts as one job, because it never keeps more than one worker busy: so the jobs of
// one key take no room away from other keys.
//
// Claims: a worker takes as many jobs at once as it would finish in about `claim_time`, by the measured
// service time (microsecond jobs by the hundred, slow ones one by one), so hand-off costs are per claim and
// jobs that are slow delay none. A claim that lasts longer all the same, because jobs have become slow, is
// wanted back: it ends with the job that is at work, and the submitter submits the rest again. One job that
// hangs delays those of its claim until then. Limits::whole_claims takes what waits instead. Wake-ups: a
// worker is woken only when the queued work would wait longer than a wake-up costs; kick() from the
// producer's tick makes up for an estimate that was wrong. The worker that parked last is woken first, so
// that the same few stay warm and the others go idle.
//
// Asynchronous work: a claim occupies one of `workers` slots from its start to its finish(), whether or not
// the thread that ran it has gone on; so `workers` bounds the claims in flight, and fewer threads may serve
// them. With Limits::asynchronous there are none at all: claims are run by whoever submits a job or finishes
// a claim, because running only passes them on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "pool/batch.h"

namespace laneway::pool {

struct Limits {
  std::uint32_t workers = 8;
  std::uint32_t queue = 256;
  /// Jobs of one claim, except for a sequential batch, which is claimed whole. 1: what is at work at once is
  /// then exactly bounded by `workers` also when claims outlive the thread that ran them.
  std::uint32_t most_per_claim = 256;
  /// A job at work for longer has its stop requested (at the granularity of the expire() calls).
  Duration job_deadline = seconds(30);
  /// A job that is still at work so long after its stop was requested is stuck: until it returns, a slot and
  /// a thread are added in its place; for at most `workers` or 64 of them at a time.
  Duration stuck_after = seconds(10);
  /// A worker without work for so long ends its thread.
  Duration idle = seconds(5);
  /// Work::run never blocks: it is called inside try_submit() and finish(), one call at a time.
  bool asynchronous = false;
  /// A claim takes what waits, up to most_per_claim, however long jobs take: for work that does its jobs at
  /// once.
  bool whole_claims = false;
};

enum class Admission : std::uint8_t { accepted, full, closed };

struct Submitted {
  /// Jobs taken, from the front; the caller keeps the rest.
  std::uint32_t taken = 0;
  /// accepted when all were taken; full or closed say why not. Full is also the answer when no thread is
  /// there and none can be started (Snapshot::start_failures tells): try again later.
  Admission admission = Admission::accepted;
};

/// A moment's counts, consistent enough for metrics.
struct Snapshot {
  std::uint32_t queued = 0;
  std::uint32_t in_flight = 0;  ///< claimed and not finished
  std::uint32_t free = 0;       ///< claims that may begin beside those in flight
  std::uint32_t threads = 0;
  std::uint32_t active = 0;          ///< threads at work
  Duration service_time{};           ///< measured average of one job; zero before the first
  std::uint64_t expired = 0;         ///< jobs whose deadline passed
  std::uint32_t stuck = 0;           ///< claims at work with a stuck job
  std::uint64_t start_failures = 0;  ///< threads that the system refused
};

class Pool {
 public:
  /// `on_room` is called when a threshold set by notify_at is reached: on the thread that finishes or
  /// withdraws the job, or that calls notify_at. It holds no lock of the pool, must be brief, and is never
  /// empty. `limits.workers` is not 0.
  Pool(Limits limits, Work& work, std::function<void()> on_room);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Offers jobs [begin, batch.size). A sequential batch is taken whole, in the place of one job, or not at
  /// all.
  Submitted try_submit(Batch& batch, std::uint32_t begin = 0);

  /// Arms one call of on_room for when at most `outstanding` jobs are unfinished, counted as admission does;
  /// at once if that is so already, but not from an empty pool that has no thread: there the submitter's
  /// clock must ask again.
  void notify_at(std::uint32_t outstanding);

  /// Other limits from now on. What has been taken stays: with fewer workers the claims that are too many
  /// finish first, then their slots and threads go; with a shorter queue nothing is taken until what is
  /// unfinished fits. `workers` is not 0. A call of on_room that is armed stays armed.
  void resize(std::uint32_t workers, std::uint32_t queue);

  /// The jobs of this claim are done, or will be submitted again: their slots are free. Exactly once per
  /// claim, from any thread, and the last thing that is done with the claim: its slot may belong to another
  /// at once. Without `ran` every job has run.
  void finish(const Claim& claim, Ran ran);
  void finish(const Claim& claim);

  /// From the producer's tick: requests the stop of jobs past their deadline, and wants back what has not
  /// begun of claims that last longer than ServiceTime::longest_claim. A job's time runs from the call
  /// that first saw it at work; for the first job of a claim from the claim's start. Returns jobs that are
  /// found to be stuck, each once.
  std::vector<Range> expire(TimePoint now);
  /// From the producer's tick: if queued work has not moved since the last call though a slot is free,
  /// forgets the service time (it must be wrong) and wakes a worker. Allows threads to be started again after
  /// a failure.
  void kick();

  /// No more submissions: they answer closed.
  void close();
  /// Takes back what has not been claimed beyond the first `keep` queued jobs, newest first; in order of
  /// submission.
  std::vector<Range> withdraw(std::uint32_t keep);
  /// Of every claim at work, what has not begun is wanted back.
  void want_back();
  /// The same, and requests the stop of everything at work, now and later.
  void cancel();
  /// The claims that are not answered: to say what is given up.
  std::vector<Range> in_flight() const;

  /// Nothing queued, nothing in flight.
  bool drained() const;
  Snapshot snapshot() const;
  Limits limits() const;
  /// From submission to the claim, per job.
  const Histogram& queue_wait() const;
  /// From the start of a claim to its finish, divided by the jobs that ran.
  const Histogram& duration() const;

  /// Closes, lets the threads work off what is queued, and waits until none is left and every claim is
  /// finished; false if that is not so at the deadline. After false the pool must live on (its threads use
  /// it); join may be called again.
  bool join(Deadline deadline);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::pool
