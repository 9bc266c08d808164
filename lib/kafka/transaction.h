// The transaction of a producer: what is written in it and the offsets of what that was made of become
// visible together, or not at all (KIP-98; offsets are fenced by group generation as in KIP-447).
//
//   opening ──► open ──► sealing ──► sealed ──► committing ──► opening          one at a time, the next
//      ▲          ▲                    │ reopen()    │ failed: sealed, with      begins when one has ended
//      │          └────────────────────┘             ▼ failure()
//      └──────────── aborting ◄── abort() in open, sealing, sealed          broken: nothing goes on
//
// Writers ask enter() before they send records that belong together, and say leave() when every one of them
// has been answered. seal() lets no more in; sealed is reached when all have left. So what is complete at
// that moment and what the transaction holds are the same, and commit() is given the offsets of just that.
// A record that was not written makes the transaction fail: then only abort() is left, and whatever was done
// since the last commit must be done again. The next one begins after a pause that doubles with each abort in
// a row (from 100 ms to 5 s): brokers that refuse a record will refuse it again.
//
// Ownership: made and owned by a Producer. Threads: any; it has a thread of its own for the client's calls,
// which block (each up to 3 s, again until they are answered: a commit whose outcome is unknown is neither
// done again nor given up). Nothing else blocks. `on_change` of watch() is called on any thread, under a
// lock, and must only signal. Errors: failure() for this transaction, broken() for good.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kafka/consumer.h"
#include "kafka/types.h"

namespace laneway::kafka {

class Transaction {
 public:
  enum class State : std::uint8_t { opening, open, sealing, sealed, committing, aborting, broken };

  /// `handle` is that of a transactional producer, whose answers another thread reads. `on_open`: writers may
  /// enter again.
  Transaction(rd_kafka_s* handle, std::function<void()> on_open);
  /// As end().
  ~Transaction();
  /// Ends the thread; an open transaction is aborted if that is soon done. The state stays readable.
  void end() EXCLUDES(mutex_);

  // Writers
  /// False: not now; on_open follows.
  bool enter() EXCLUDES(mutex_);
  void leave() EXCLUDES(mutex_);
  /// A record was not written, or nobody knows: this transaction must not be committed. `avoidable`: what
  /// failed it will not be in the next one, which then begins without a pause.
  void fail(const std::string& why, bool avoidable = false) EXCLUDES(mutex_);

  /// The client has failed for good: nothing goes on. Called again it changes nothing.
  void break_off(const std::string& why) EXCLUDES(mutex_);

  // The one who commits
  void watch(std::function<void()> on_change) EXCLUDES(mutex_);
  State state() const EXCLUDES(mutex_);
  /// Why this transaction must be aborted.
  std::optional<std::string> failure() const EXCLUDES(mutex_);
  /// Why nothing can go on, as with a producer that another one with the same transactional.id replaced.
  std::optional<std::string> broken() const EXCLUDES(mutex_);
  /// In open: lets no more writers in.
  void seal() EXCLUDES(mutex_);
  /// In sealed: goes on with the same transaction.
  void reopen() EXCLUDES(mutex_);
  /// In sealed: ends the transaction with these offsets, at least one. result() follows.
  void commit(std::vector<CommittedOffset> offsets, GroupMember member) EXCLUDES(mutex_);
  /// The outcome of a commit, once. The offsets are committed all or none.
  std::optional<CommitResult> result() EXCLUDES(mutex_);
  /// Gives up what was written since the last commit. Writers that are inside must stop by themselves. While
  /// committing: not allowed.
  void abort() EXCLUDES(mutex_);

 private:
  struct Trouble {
    bool fatal = false;
    bool metadata_too_long = false;
    std::string text;
  };
  enum class Job : std::uint8_t { flush, commit, abort, stop };

  void run() EXCLUDES(mutex_);
  bool open_first() EXCLUDES(mutex_);
  Job next_job() EXCLUDES(mutex_);
  void do_commit() EXCLUDES(mutex_);
  void do_abort() EXCLUDES(mutex_);
  void back_off() EXCLUDES(mutex_);
  void abort_at_end() EXCLUDES(mutex_);
  void begin() EXCLUDES(mutex_);
  template <class Call>
  std::optional<Trouble> insist(const char* what, Call call) EXCLUDES(mutex_);
  bool stopping() const EXCLUDES(mutex_);
  void changed() REQUIRES(mutex_);

  rd_kafka_s* const handle_;
  int aborts_ = 0;  // since the last commit; the thread's own
  const std::function<void()> on_open_;
  mutable Mutex mutex_;
  Condition work_;
  State state_ GUARDED_BY(mutex_) = State::opening;
  std::uint32_t inside_ GUARDED_BY(mutex_) = 0;  // writers
  bool written_ GUARDED_BY(mutex_) = false;      // a writer was inside since the transaction began
  bool flushed_ GUARDED_BY(mutex_) = false;      // since seal()
  bool stop_ GUARDED_BY(mutex_) = false;
  std::string failure_ GUARDED_BY(mutex_);
  bool avoidable_ GUARDED_BY(mutex_) = false;  // the failure
  std::string broken_ GUARDED_BY(mutex_);
  std::vector<CommittedOffset> offsets_ GUARDED_BY(mutex_);
  GroupMember member_ GUARDED_BY(mutex_);
  std::optional<CommitResult> result_ GUARDED_BY(mutex_);
  std::function<void()> on_change_ GUARDED_BY(mutex_);
  std::thread thread_;  // the last: it uses all of the above
};

}  // namespace laneway::kafka
